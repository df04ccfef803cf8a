import type { Clock } from '@octavo/core';
import type { Database } from '@octavo/data';
import type { DrfScope } from '@octavo/drf';
import { notFoundError } from '@octavo/drf/dialect';
import type { HttpApp } from '@octavo/web/server';
import type { ApiAccess } from '../accounts/index.ts';
import { findLikedQuote, QuoteSchema, toJson } from '../quotes/index.ts';
import { routes } from '../routes.ts';
import type { Tables } from '../tables.ts';
import { type DayKeys, dayOf } from './permutation.ts';
import { quoteOfDay } from './store.ts';

export interface DailyApiParts {
  readonly database: Database<Tables>;
  readonly access: ApiAccess;
  readonly clock: Clock;
  readonly dayKeys: DayKeys;
}

export function addDailyApi(
  app: HttpApp,
  drf: DrfScope,
  { database, access, clock, dayKeys }: DailyApiParts,
): void {
  app.get(
    routes.today,
    {
      access: access.open,
      config: { errors: ['not_found'] },
      schema: {
        tags: ['quotes'],
        summary: 'Get the quote of the day',
        description: 'The day is that of UTC. Caches may keep the response until it ends.',
        response: { 200: QuoteSchema },
      },
    },
    async (_request, reply) => {
      const { day, secondsLeft } = dayOf(clock.now());
      const choice = await quoteOfDay(database, day, dayKeys);
      const quote = choice && (await findLikedQuote(database, choice.id));
      if (!choice || !quote) throw notFoundError();
      reply.header('cache-control', choice.isPinned ? `public, max-age=${secondsLeft}` : 'no-store');
      return toJson(quote);
    },
  );
  drf.describe(routes.today, {
    name: 'Quote Of The Day',
    description: 'The quote of the day.',
    access: access.open,
  });
}
