import type { Database } from '@octavo/data';
import type { Tables } from '../tables.ts';
import { isLive, keptMs, leaseMs, type TurnKey, type TurnState, toState } from './store.ts';
import type { TurnEvent } from './turn.ts';

/** Time for which a turn counts as watched after a watcher asked for it. */
const watchedMs = 2_000;

/** A turn, and the key that it is found by. */
export interface SessionTurn extends TurnKey {
  readonly run: string;
  readonly session: string;
  readonly fingerprint: string;
  /** Undefined while it runs. */
  readonly endedAtMs: number | undefined;
}

/** Consecutive events of a run; `first` is the number of those before them. */
export interface TurnPart {
  readonly first: number;
  readonly events: readonly TurnEvent[];
}

/** Says that a client here watches a turn, which does not keep it from being stopped, and returns its state. Undefined if it is gone. */
export async function watchTurn(
  database: Database<Tables>,
  run: string,
  nowMs: number,
): Promise<TurnState | undefined> {
  const row = await database.write(
    ({ kysely }) =>
      kysely
        .updateTable('turn')
        .set({ watched_until_ms: nowMs + watchedMs })
        .where('run', '=', run)
        .returningAll()
        .executeTakeFirst(),
    { mayBeLost: true },
  );
  return row && toState(row);
}

/** Keeps events of a running turn for the processes that watch it. */
export async function addPart(
  database: Database<Tables>,
  { owner, requestId }: TurnKey,
  { run, first, events }: TurnPart & { readonly run: string },
): Promise<void> {
  const row = { owner, request_id: requestId, run, first, events: JSON.stringify(events) };
  await database.write(({ kysely }) => kysely.insertInto('turn_part').values(row).execute(), {
    mayBeLost: true,
  });
}

/** The parts of a run from the event number `first` on, in order. */
export async function partsFrom(
  database: Database<Tables>,
  { owner, requestId }: TurnKey,
  { run, first }: { readonly run: string; readonly first: number },
): Promise<TurnPart[]> {
  const rows = await database.kysely
    .selectFrom('turn_part')
    .select(['first', 'events'])
    .where('owner', '=', owner)
    .where('request_id', '=', requestId)
    .where('run', '=', run)
    .where('first', '>=', first)
    .orderBy('first')
    .execute();
  return rows.map((row) => ({ first: row.first, events: JSON.parse(row.events) as TurnEvent[] }));
}

/** Turns of sessions that are under way, or have ended since `sinceMs`, by whatever process. */
export async function sessionTurns(
  database: Database<Tables>,
  { nowMs, sinceMs }: { readonly nowMs: number; readonly sinceMs: number },
): Promise<SessionTurn[]> {
  const rows = await database.kysely
    .selectFrom('turn')
    .select(['owner', 'request_id', 'run', 'session', 'fingerprint', 'until_ms'])
    .select((eb) => isLive(eb).as('is_live'))
    .where('session', 'is not', null)
    .where((eb) =>
      eb.or([
        // The second bound leaves out most of the turns that have ended, which are kept for longer.
        eb.and([isLive(eb), eb('until_ms', '>', nowMs), eb('until_ms', '<=', nowMs + 2 * leaseMs)]),
        eb('until_ms', '>=', sinceMs + keptMs),
      ]),
    )
    .orderBy('run')
    .execute();
  return rows.map((row) => ({
    owner: row.owner as TurnKey['owner'],
    requestId: row.request_id,
    run: row.run,
    session: row.session ?? '',
    fingerprint: row.fingerprint,
    endedAtMs: row.is_live ? undefined : row.until_ms - keptMs,
  }));
}
