import type { Database, WriteSession } from '@octavo/data';
import type { ExpressionBuilder } from 'kysely';
import type { Owner } from '../owner.ts';
import { insertMessages, type Message } from '../sessions/index.ts';
import type { Tables, TurnRow } from '../tables.ts';
import type { TurnEvent } from './turn.ts';

type Write = WriteSession<Tables>;

/** Time for which a request with the same id is the same turn. */
export const keptMs = 10 * 60_000;
/** After that long without a sign of the process that runs a turn, the turn has ended. */
export const leaseMs = 5_000;
/** Time for which a process that asked for the outcome counts as waiting for it. */
const followedMs = 2_000;

/** A turn as all processes see it. */
export interface TurnState {
  readonly run: string;
  /** Null if no session keeps it. */
  readonly session: string | null;
  readonly status: TurnRow['status'];
  readonly isStopping: boolean;
  readonly untilMs: number;
  readonly events: readonly TurnEvent[] | undefined;
}

/** Keeps how a turn ended, and its messages in the session, unless it was taken over or its session is gone. */
export function finishTurn(
  database: Database<Tables>,
  { run, session }: Pick<TurnState, 'run' | 'session'>,
  outcome: {
    readonly isCancelled: boolean;
    readonly events: readonly TurnEvent[];
    readonly messages: readonly Message[];
    readonly nowMs: number;
  },
): Promise<void> {
  const { isCancelled, events, messages, nowMs } = outcome;
  const ended = { status: isCancelled ? 'cancelled' : 'done', until_ms: nowMs + keptMs } as const;
  return database.write(async (write) => {
    const { numUpdatedRows } = await write.kysely
      .updateTable('turn')
      .set({ ...ended, events: JSON.stringify(events) })
      .where('run', '=', run)
      .where(isLive)
      .executeTakeFirst();
    if (Number(numUpdatedRows) > 0 && session !== null) await insertMessages(write, session, messages);
  });
}

/** Forgets a turn that could not be answered, so that it may be asked again. */
export async function dropTurn(database: Database<Tables>, run: string): Promise<void> {
  await database.write(({ kysely }) =>
    kysely.deleteFrom('turn').where('run', '=', run).where(isLive).execute(),
  );
}

/** Asks the process that runs a turn to stop it. False if the owner has no such turn; one that has ended stays as it is. */
export function requestStop(
  database: Database<Tables>,
  { owner, requestId }: TurnKey,
  nowMs: number,
): Promise<boolean> {
  return database.write(async (write) => {
    await deleteOver(write, nowMs, { owner, requestId });
    await write.kysely
      .updateTable('turn')
      .set({ stopping: 1 })
      .where('owner', '=', owner)
      .where('request_id', '=', requestId)
      .where(isLive)
      .execute();
    return (await rowOf(write, { owner, requestId })) !== undefined;
  });
}

/** Marks a turn as one that is to stop, unless another process waits for it. */
export async function abandonTurn(database: Database<Tables>, run: string, nowMs: number): Promise<boolean> {
  const { numUpdatedRows } = await database.write(({ kysely }) =>
    kysely
      .updateTable('turn')
      .set({ stopping: 1 })
      .where('run', '=', run)
      .where('followed_until_ms', '<=', nowMs)
      .executeTakeFirst(),
  );
  return Number(numUpdatedRows) > 0;
}

/** Renews the leases of turns. Returns those that are to go on, each with the time until which another process watches it. */
export async function renewTurns(
  database: Database<Tables>,
  runs: readonly string[],
  nowMs: number,
): Promise<Map<string, number>> {
  const rows = await database.write(({ kysely }) =>
    kysely
      .updateTable('turn')
      .set({ until_ms: nowMs + leaseMs })
      .where('run', 'in', runs)
      .where(isLive)
      .returning(['run', 'stopping', 'watched_until_ms'])
      .execute(),
  );
  const going = rows.filter(({ stopping }) => stopping === 0);
  return new Map(going.map((row) => [row.run, row.watched_until_ms]));
}

/** Says that a client here waits for a turn for `forMs` more, and returns how it stands. Undefined if it is gone. */
export async function followTurn(
  database: Database<Tables>,
  run: string,
  { nowMs, forMs = followedMs }: { nowMs: number; forMs?: number },
): Promise<TurnState | undefined> {
  const row = await database.write(({ kysely }) =>
    kysely
      .updateTable('turn')
      .set({ followed_until_ms: nowMs + forMs, watched_until_ms: nowMs + forMs })
      .where('run', '=', run)
      .returningAll()
      .executeTakeFirst(),
  );
  return row && toState(row);
}

/** Removes turns that ended more than ten minutes ago. */
export async function sweepTurns(database: Database<Tables>, nowMs: number): Promise<void> {
  await database.write((write) => deleteOver(write, nowMs));
}

/** Returns true if a turn that has not ended still has a process that runs it. */
export function isHeld({ status, untilMs }: TurnState, nowMs: number): boolean {
  return (status === 'waiting' || status === 'running') && untilMs > nowMs;
}

export type TurnKey = { readonly owner: Owner; readonly requestId: string };

export function rowOf({ kysely }: Write, { owner, requestId }: TurnKey): Promise<TurnRow | undefined> {
  const all = kysely.selectFrom('turn').selectAll();
  return all.where('owner', '=', owner).where('request_id', '=', requestId).executeTakeFirst();
}

/** Deletes turns that are kept no longer; only that of the key if there is one. */
export async function deleteOver({ kysely }: Write, nowMs: number, key?: TurnKey): Promise<void> {
  let over = kysely
    .deleteFrom('turn')
    .where((eb) =>
      eb.or([
        eb.and([eb.not(isLive(eb)), eb('turn.until_ms', '<=', nowMs)]),
        eb('turn.until_ms', '<=', nowMs - keptMs),
      ]),
    );
  if (key) over = over.where('owner', '=', key.owner).where('request_id', '=', key.requestId);
  await over.execute();
}

/** Deletes the turns of an owner; those that run are stopped by their process, which finds no row of theirs. */
export async function deleteTurnsOf({ kysely }: Pick<Write, 'kysely'>, owner: string): Promise<void> {
  await kysely.deleteFrom('turn').where('owner', '=', owner).execute();
}

/** Returns a condition for turns that have not ended. */
export function isLive(eb: ExpressionBuilder<Tables, 'turn'>) {
  return eb('turn.status', 'in', ['waiting', 'running']);
}

export function toState({ run, session, status, stopping, until_ms, events }: TurnRow): TurnState {
  return {
    run,
    session,
    status,
    isStopping: stopping === 1,
    untilMs: until_ms,
    events: events === null ? undefined : (JSON.parse(events) as TurnEvent[]),
  };
}
