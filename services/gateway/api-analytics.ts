import { Type } from '#kit/schema.ts';
import { AnalyticsResult, toAnalytics } from './analytics.ts';
import { timedMetaOf } from './api-meta.ts';
import type { ApiParts } from './api-parts.ts';
import { operation, TimedMeta } from './api-schemas.ts';
import { callOf } from './call.ts';
import { routes } from './routes.ts';

export function addAnalytics({
  app,
  posts,
  permits,
  clock,
}: Pick<ApiParts, 'app' | 'posts' | 'permits' | 'clock'>): void {
  const Answer = Type.Object({ data: AnalyticsResult, meta: TimedMeta });
  app.get(
    routes.analytics,
    {
      access: permits('post', 'read'),
      schema: { ...operation('analysePosts', 'Figures over all posts'), response: { 200: Answer } },
    },
    async (request, reply) => {
      const data = toAnalytics(await posts.analytics(callOf(request)));
      return { data, meta: timedMetaOf(reply, clock) };
    },
  );
}
