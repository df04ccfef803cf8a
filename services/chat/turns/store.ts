import type { ExpressionBuilder } from 'kysely';
import type { Database, WriteSession } from '#kit/db/index.ts';
import { AppError, notFound } from '#kit/errors.ts';
import { newOrderedId } from '#kit/ids.ts';
import type { Owner } from '../owner.ts';
import { findSession, insertMessages, insertSession, type Message, titleOf } from '../sessions/index.ts';
import type { Tables, TurnRow } from '../tables.ts';
import type { TurnEvent, TurnRequest } from './turn.ts';

type Write = WriteSession<Tables>;

/** How long a request with the same id is the same turn. */
const keptMs = 10 * 60_000;
/** After that long without a sign of the process that runs a turn, the turn has ended. */
const leaseMs = 5_000;
/** How long a process that asked for the outcome counts as waiting for it. */
const followedMs = 2_000;
/** How many turns of a session wait while one runs. */
const waitingInSession = 2;

/** What was asked, and by whom. */
export interface Asked {
  readonly owner: Owner;
  readonly request: TurnRequest;
  readonly fingerprint: string;
}

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

/** A turn that this process is to run. */
export interface OwnTurn extends TurnState {
  readonly questionId: string;
}

/**
 * The turn of that id. It is `own` if nobody has run it, or if whoever did was stopped or has died; else another one runs it or has its
 * outcome. Undefined if it ended meanwhile without an answer. Throws `conflict` if something else was asked under that id, `not_found` for
 * a session of somebody else, and `locked` if too many turns of the session wait.
 */
export function claimTurn(
  database: Database<Tables>,
  { owner, request, fingerprint }: Asked,
  nowMs: number,
): Promise<{ own: OwnTurn } | { other: TurnState } | undefined> {
  const { requestId, sessionId, query, isKept = true } = request;
  return database.write(async (write) => {
    if (sessionId !== undefined) {
      await lockSession(write, sessionId);
      if (!(await findSession(write, { owner, nowMs }, sessionId))) throw notFound('session', sessionId);
    }
    await deleteOver(write, nowMs, { owner, requestId });
    const [questionId, run] = [newOrderedId(), newOrderedId()];
    const session = sessionId ?? (isKept ? newOrderedId() : null);
    const claim = { run, fingerprint, status: 'waiting', until_ms: nowMs + leaseMs } as const;
    const fresh = { ...claim, stopping: 0, followed_until_ms: 0, events: null } as const;
    const row = await write.kysely
      .insertInto('turn')
      .values({ owner, request_id: requestId, session, ...fresh })
      .onConflict((conflict) =>
        conflict
          .columns(['owner', 'request_id'])
          .doUpdateSet(fresh)
          .where('turn.fingerprint', '=', fingerprint)
          .where((eb) =>
            eb.or([
              eb('turn.status', '=', 'cancelled'),
              eb.and([isLive(eb), eb('turn.until_ms', '<=', nowMs)]),
            ]),
          ),
      )
      .returningAll()
      .executeTakeFirst();
    if (!row) return found(write, { owner, requestId, fingerprint });
    // A turn that is run again goes on in the session that it began the first time.
    if (session !== null && session === row.session && sessionId === undefined)
      await insertSession(write, { id: session, owner, title: titleOf(query) }, nowMs);
    const status = (await enterSession(write, row, nowMs)) ? 'running' : 'waiting';
    return { own: { ...toState(row), status, questionId } };
  });
}

/** Lets a turn run if it is the first of its session. */
export function startTurn(
  database: Database<Tables>,
  { run, session }: Pick<TurnState, 'run' | 'session'>,
  nowMs: number,
): Promise<boolean> {
  return database.write(async (write) => {
    if (session !== null) await lockSession(write, session);
    return start(write, run, nowMs);
  });
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
  { owner, requestId }: { owner: Owner; requestId: string },
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

/** Renews the leases of turns, and returns those that are to go on. */
export async function renewTurns(
  database: Database<Tables>,
  runs: readonly string[],
  nowMs: number,
): Promise<string[]> {
  const rows = await database.write(({ kysely }) =>
    kysely
      .updateTable('turn')
      .set({ until_ms: nowMs + leaseMs })
      .where('run', 'in', runs)
      .where(isLive)
      .returning(['run', 'stopping'])
      .execute(),
  );
  return rows.filter(({ stopping }) => stopping === 0).map(({ run }) => run);
}

/** Says that somebody here waits for a turn for `forMs` more, and returns how it stands. Undefined if it is gone. */
export async function followTurn(
  database: Database<Tables>,
  run: string,
  { nowMs, forMs = followedMs }: { nowMs: number; forMs?: number },
): Promise<TurnState | undefined> {
  const row = await database.write(({ kysely }) =>
    kysely
      .updateTable('turn')
      .set({ followed_until_ms: nowMs + forMs })
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

/** Whether a turn that nobody has ended still has somebody who runs it. */
export function isHeld({ status, untilMs }: TurnState, nowMs: number): boolean {
  return (status === 'waiting' || status === 'running') && untilMs > nowMs;
}

type Key = { readonly owner: Owner; readonly requestId: string };

async function found(write: Write, { fingerprint, ...key }: Key & { readonly fingerprint: string }) {
  const known = await rowOf(write, key);
  if (known && known.fingerprint !== fingerprint)
    throw new AppError('conflict', 'Something else was asked with this request_id.');
  return known && { other: toState(known) };
}

function rowOf({ kysely }: Write, { owner, requestId }: Key): Promise<TurnRow | undefined> {
  const all = kysely.selectFrom('turn').selectAll();
  return all.where('owner', '=', owner).where('request_id', '=', requestId).executeTakeFirst();
}

async function deleteOver({ kysely }: Write, nowMs: number, key?: Key): Promise<void> {
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

/** Turns of a session begin and wait one after another, whatever process they are in. */
function lockSession(write: Write, session: string): Promise<void> {
  return write.lock(`turns of ${session}`);
}

/** Whether the turn runs; else it waits. Throws `locked` if too many wait before it. */
async function enterSession(write: Write, { run, session }: TurnRow, nowMs: number): Promise<boolean> {
  if (await start(write, run, nowMs)) return true;
  const others = await write.kysely
    .selectFrom('turn')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('session', '=', session)
    .where('run', '!=', run)
    .where('until_ms', '>', nowMs)
    .where(isLive)
    .executeTakeFirst();
  if ((others?.count ?? 0) > waitingInSession)
    throw new AppError('locked', 'This session is busy with other questions.');
  return false;
}

async function start({ kysely }: Write, run: string, nowMs: number): Promise<boolean> {
  const { numUpdatedRows } = await kysely
    .updateTable('turn')
    .set({ status: 'running' })
    .where('run', '=', run)
    .where('status', '=', 'waiting')
    .where(({ not, exists, selectFrom }) => {
      const others = selectFrom('turn as other')
        .select('other.run')
        .whereRef('other.session', '=', 'turn.session')
        .where('other.until_ms', '>', nowMs)
        .where(({ eb, or, and, ref }) =>
          or([
            eb('other.status', '=', 'running'),
            and([eb('other.status', '=', 'waiting'), eb('other.run', '<', ref('turn.run'))]),
          ]),
        );
      return not(exists(others));
    })
    .executeTakeFirst();
  return Number(numUpdatedRows) > 0;
}

function isLive(eb: ExpressionBuilder<Tables, 'turn'>) {
  return eb('turn.status', 'in', ['waiting', 'running']);
}

function toState({ run, session, status, stopping, until_ms, events }: TurnRow): TurnState {
  return {
    ...{ run, session, status, isStopping: stopping === 1, untilMs: until_ms },
    events: events === null ? undefined : (JSON.parse(events) as TurnEvent[]),
  };
}
