import { type Database, type Session, statement, type WriteSession } from '#kit/db/index.ts';
import type { Tables } from '../tables.ts';
import type { DayKeys } from './permutation.ts';

const pinned = statement<Tables, { day: string }>()((db, p) =>
  db
    .selectFrom('quote_of_day')
    .innerJoin('quote', 'quote.id', 'quote_of_day.quote_id')
    .select('quote.id')
    .where('quote_of_day.day', '=', p('day'))
    .where('quote.is_published', '=', 1),
);

const before = statement<Tables, { day: string; limit: number }>()((db, p) =>
  db
    .selectFrom('quote_of_day')
    .innerJoin('quote', 'quote.id', 'quote_of_day.quote_id')
    .select(['quote_of_day.day', 'quote.id'])
    .where('quote_of_day.day', '<', p('day'))
    .where('quote.is_published', '=', 1)
    .orderBy('quote_of_day.day', 'desc')
    .limit(p('limit')),
);

const next = statement<Tables>()((db) =>
  db
    .selectFrom('quote')
    .select(['id', 'fingerprint', 'day_round'])
    .where('is_published', '=', 1)
    .orderBy('day_round')
    .orderBy('day_key')
    .limit(1),
);

const pin = statement<Tables, { day: string; quoteId: number }>()((db, p) =>
  db
    .insertInto('quote_of_day')
    .values({ day: p('day'), quote_id: p('quoteId') })
    .onConflict((conflict) =>
      conflict.column('day').doUpdateSet((e) => ({ quote_id: e.ref('excluded.quote_id') })),
    ),
);

const moveOn = statement<Tables, { id: number; round: number; key: number }>()((db, p) =>
  db
    .updateTable('quote')
    .set({ day_round: p('round'), day_key: p('key') })
    .where('id', '=', p('id')),
);

const round = statement<Tables>()((db) =>
  db
    .selectFrom('quote')
    .select('day_round')
    .where('is_published', '=', 1)
    .orderBy('day_round')
    .orderBy('day_key')
    .limit(1),
);

/**
 * The id of the quote of a day: the one that is pinned, else the next of the permutation, which is pinned then. Undefined if there
 * are no published quotes.
 */
export async function quoteOfDay(
  database: Database<Tables>,
  day: string,
  dayKeys: DayKeys,
): Promise<number | undefined> {
  const known = await pinned.first(database, { day });
  if (known) return known.id;
  return database.write((session) => choose(session, day, dayKeys));
}

/** The quotes of the days before, the last one first. */
export function earlierDays(
  session: Session<Tables>,
  { day, limit }: { day: string; limit: number },
): Promise<{ day: string; id: number }[]> {
  return before.all(session, { day, limit });
}

/** The round that a new quote joins: that of the quotes which are to come next. */
export async function currentRound(session: Session<Tables>): Promise<number> {
  return (await round.first(session, {}))?.day_round ?? 0;
}

/** The pin of a quote that was withdrawn is replaced; that of a deleted one went with it. */
async function choose(
  session: WriteSession<Tables>,
  day: string,
  dayKeys: DayKeys,
): Promise<number | undefined> {
  await session.lock('quote_of_day');
  const known = await pinned.first(session, { day });
  if (known) return known.id;
  const quote = await next.first(session, {});
  if (!quote) return undefined;
  await pin.run(session, { day, quoteId: quote.id });
  const round = quote.day_round + 1;
  await moveOn.run(session, { id: quote.id, round, key: dayKeys(quote.fingerprint, round) });
  return quote.id;
}
