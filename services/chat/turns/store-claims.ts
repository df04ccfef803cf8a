import { AppError, newOrderedId, notFound } from '@octavo/core';
import type { Database, WriteSession } from '@octavo/data';
import type { Owner } from '../owner.ts';
import { findSession, insertSession, titleOf } from '../sessions/index.ts';
import type { Tables, TurnRow } from '../tables.ts';
import { deleteOver, isLive, leaseMs, rowOf, type TurnKey, type TurnState, toState } from './store.ts';
import type { TurnRequest } from './turn.ts';

type Write = WriteSession<Tables>;

/** Number of turns of a session that wait while one runs. */
const waitingInSession = 2;

/** The request, and its owner. */
export interface TurnClaimRequest {
  readonly owner: Owner;
  readonly request: TurnRequest;
  readonly fingerprint: string;
}

/** A turn that this process is to run. */
export interface ClaimedTurn extends TurnState {
  readonly questionId: string;
}

/**
 * Claims the turn of that id for this process if no process has run it, or if the one that did was stopped or has died; else returns the
 * state of the `other`. Undefined if it ended meanwhile without an answer. Throws `conflict` if something else was asked under that id, `not_found` for
 * a session of another owner, and `locked` if too many turns of the session wait.
 */
export function claimTurn(
  database: Database<Tables>,
  { owner, request, fingerprint }: TurnClaimRequest,
  nowMs: number,
): Promise<{ claimedTurn: ClaimedTurn } | { other: TurnState } | undefined> {
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
    const fresh = { ...claim, stopping: 0, followed_until_ms: 0, watched_until_ms: 0, events: null } as const;
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
    return { claimedTurn: { ...toState(row), status, questionId } };
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

async function found(write: Write, { fingerprint, ...key }: TurnKey & { readonly fingerprint: string }) {
  const known = await rowOf(write, key);
  if (known && known.fingerprint !== fingerprint)
    throw new AppError('conflict', 'This request_id was used for another question.');
  return known && { other: toState(known) };
}

/** Turns of a session begin and wait one after another, whatever process they are in. */
function lockSession(write: Write, session: string): Promise<void> {
  return write.lock(`turns of ${session}`);
}

/** Returns true if the turn may run; else it waits. Throws `locked` if too many wait before it. */
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
