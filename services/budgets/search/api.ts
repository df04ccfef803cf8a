import type { AccessRule, HttpApp } from '@octavo/web/server';
import type { Context } from '../commands.ts';
import { callerOf } from '../edges/api-access.ts';
import { routes } from '../routes.ts';
import { SearchRequest, SearchResult, searchExpenses } from './search.ts';

export function addSearchApi(app: HttpApp, context: Context, access: AccessRule): void {
  app.post(
    routes.searchExpenses,
    {
      access,
      schema: {
        operationId: 'searchExpenses',
        summary: 'Find your expenses by words',
        description:
          'Case and accents do not matter. An expense is found as soon as its creation was answered.',
        tags: ['Search'],
        body: SearchRequest,
        response: { 200: SearchResult },
      },
      config: { errors: ['not_found', 'rate_limited'] },
    },
    (request) => searchExpenses(context, callerOf(request), request.body),
  );
}
