import { AppError } from '@octavo/core';
import type { Database, Session, WriteSession } from '@octavo/data';
import { sql } from 'kysely';
import type { Store, Tables } from '../tables.ts';
import type { DayKeys } from './permutation.ts';

function pinned({ kysely }: Store, day: string) {
  return kysely
    .selectFrom('quote_of_day')
    .innerJoin('quote', 'quote.id', 'quote_of_day.quote_id')
    .select('quote.id')
    .where('quote_of_day.day', '=', day)
    .where('quote.is_published', '=', 1)
    .executeTakeFirst();
}

function next({ kysely }: Store) {
  return kysely
    .selectFrom('quote')
    .select(['id', 'fingerprint', 'day_round'])
    .where('is_published', '=', 1)
    .orderBy('day_round')
    .orderBy('day_key')
    .limit(1)
    .executeTakeFirst();
}

function moveOn({ kysely }: Store, { id, round, key }: { id: number; round: number; key: number }) {
  return kysely.updateTable('quote').set({ day_round: round, day_key: key }).where('id', '=', id).execute();
}

/** The quote of a day. One that is not pinned could not be written down, and may still be another one later. */
export interface DayChoice {
  readonly id: number;
  readonly isPinned: boolean;
}

/**
 * The quote of a day: the one that is pinned, else the next of the permutation, which is pinned then. Where nothing can be written, such
 * as on a full disk, it is that one too. Undefined if there are no published quotes.
 */
export async function quoteOfDay(
  database: Database<Tables>,
  day: string,
  dayKeys: DayKeys,
): Promise<DayChoice | undefined> {
  const known = await pinned(database, day);
  if (known) return { id: known.id, isPinned: true };
  try {
    const id = await database.write((session) => choose(session, day, dayKeys));
    return id === undefined ? undefined : { id, isPinned: true };
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'unavailable') throw error;
    const quote = await next(database);
    return quote && { id: quote.id, isPinned: false };
  }
}

/** The quotes of the days before, the last one first. */
export function earlierDays(
  session: Session<Tables>,
  { day, limit }: { day: string; limit: number },
): Promise<{ day: string; id: number }[]> {
  return (
    session.kysely
      .selectFrom('quote_of_day')
      .innerJoin('quote', 'quote.id', 'quote_of_day.quote_id')
      .select(['quote_of_day.day', 'quote.id'])
      .where('quote_of_day.day', '<', day)
      // The sign keeps SQLite from reading all published quotes in place of the days.
      .where(sql<number>`+${sql.ref('quote.is_published')}`, '=', 1)
      .orderBy('quote_of_day.day', 'desc')
      .limit(limit)
      .execute()
  );
}

/** The round that runs, which a new quote joins. */
export async function currentRound(session: Session<Tables>): Promise<number> {
  const row = await session.kysely.selectFrom('daily_round').select('round').executeTakeFirst();
  return row?.round ?? 0;
}

/** Lets published quotes that waited while rounds passed join the one that runs, at a place of their own in it. */
export async function joinRound(
  session: WriteSession<Tables>,
  ids: readonly number[],
  dayKeys: DayKeys,
): Promise<void> {
  if (ids.length === 0) return;
  const round = await currentRound(session);
  const late = await session.kysely
    .selectFrom('quote')
    .select(['id', 'fingerprint'])
    .where('id', 'in', [...ids])
    .where('is_published', '=', 1)
    .where('day_round', '<', round)
    .execute();
  for (const { id, fingerprint } of late)
    await moveOn(session, { id, round, key: dayKeys(fingerprint, round) });
}

/** The pin of a quote that was withdrawn is replaced; that of a deleted one went with it. */
async function choose(
  session: WriteSession<Tables>,
  day: string,
  dayKeys: DayKeys,
): Promise<number | undefined> {
  await session.lock('quote_of_day');
  const known = await pinned(session, day);
  if (known) return known.id;
  const quote = await next(session);
  if (!quote) return undefined;
  await session.kysely
    .insertInto('quote_of_day')
    .values({ day, quote_id: quote.id })
    .onConflict((conflict) =>
      conflict.column('day').doUpdateSet((e) => ({ quote_id: e.ref('excluded.quote_id') })),
    )
    .execute();
  const running = await currentRound(session);
  // However many rounds a quote waited, it was there in this one now.
  const round = Math.max(running, quote.day_round);
  if (round > running) await session.kysely.updateTable('daily_round').set({ round }).execute();
  await moveOn(session, { id: quote.id, round: round + 1, key: dayKeys(quote.fingerprint, round + 1) });
  return quote.id;
}
