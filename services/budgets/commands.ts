import type { Clock } from '@octavo/core';
import { AppError } from '@octavo/core';
import { parseExact, stringifyExact } from '@octavo/core/text';
import { type Database, UnknownOutcome, type WriteSession } from '@octavo/data';
import type { BudgetsConfig } from './settings.ts';
import { findIdempotencyKey, putIdempotencyKey, sweepIdempotencyKeys } from './store/store.ts';
import type { Tables } from './store/tables.ts';

/** Dependencies of every rule. */
export interface Context {
  readonly db: Database<Tables>;
  readonly clock: Clock;
  /** The settings of the service, for rules that have one. */
  readonly config: BudgetsConfig;
  /** Called after each commit, so that those who wait for events look at once. */
  onCommitted(): void;
}

/** The account that calls, on any edge. Other people's data does not exist for it. */
export interface Caller {
  /** The number of the account, which owns all rows. */
  readonly owner: number;
  /** The id of the account, as clients know it. */
  readonly userId: string;
  /** Set if the caller wants the command to happen once. */
  readonly idempotency?: Idempotency | undefined;
  /** Aborts if the caller was answered already, as at a deadline: then nothing is done. */
  readonly signal?: AbortSignal | undefined;
}

export interface Idempotency {
  readonly key: string;
  /** A hash of the whole request: the same key with another one is a conflict. */
  readonly digest: string;
  /** Called if the result is that of an earlier command with the same key. */
  onReplayed?(): void;
}

/** One transaction of one account. */
export interface AccountTransaction {
  readonly session: WriteSession<Tables>;
  readonly owner: number;
  readonly config: BudgetsConfig;
  /** The time of the whole transaction. */
  readonly nowMs: number;
}

/** Retention of the result of a command. */
export const idempotencyMs = 24 * 3_600_000;

/**
 * Runs a command in one transaction. Those of one account run one after another. With an idempotency key, the result (as JSON) is
 * stored with it, and is returned if the same command comes again within 24 hours.
 */
export async function runCommand<T>(
  context: Context,
  caller: Caller,
  work: (transaction: AccountTransaction) => Promise<T>,
  options: { readonly alone?: boolean } = {},
): Promise<T> {
  const { idempotency, signal } = caller;
  let isReplayed = false;
  const write = context.db.write(async (session) => {
    isReplayed = false;
    await session.lock(`account ${caller.owner}`);
    signal?.throwIfAborted();
    const { clock, config } = context;
    const transaction = { session, owner: caller.owner, config, nowMs: clock.now() };
    const done = idempotency
      ? await runOnce(resultsOf(transaction, idempotency), () => work(transaction))
      : { result: await work(transaction), isReplayed };
    if (!done.isReplayed) signal?.throwIfAborted();
    isReplayed = done.isReplayed;
    return done.result;
  }, options);
  const result = await write.catch((error: unknown) => {
    throw idempotency && error instanceof UnknownOutcome ? repeatable(error) : error;
  });
  if (isReplayed) idempotency?.onReplayed?.();
  else context.onCommitted();
  return result;
}

/** Deletes keys that have expired. */
export async function deleteOldIdempotencyKeys({ db, clock }: Context): Promise<void> {
  await sweepIdempotencyKeys(db, clock.now() - idempotencyMs);
}

function resultsOf({ session, owner, nowMs }: AccountTransaction, { key, digest }: Idempotency): ResultStore {
  return {
    digest,
    nowMs,
    find: (sinceMs) => findIdempotencyKey(session, { owner, key, sinceMs }),
    put: (result) => putIdempotencyKey(session, { owner, key, digest, result, nowMs }),
  };
}

/** Stored result of one request, by its key. */
export interface ResultStore {
  readonly digest: string;
  readonly nowMs: number;
  find(sinceMs: number): Promise<{ readonly digest: string; readonly result: string } | undefined>;
  /** Stores the result as JSON, in place of one that has expired. */
  put(result: string): Promise<unknown>;
}

/**
 * Does the work in the caller's transaction, or returns the result of the same request within 24 hours before. Throws `conflict` if the
 * key was used for another request.
 */
export async function runOnce<T>(
  { digest, nowMs, find, put }: ResultStore,
  work: () => Promise<T>,
): Promise<{ result: T; isReplayed: boolean }> {
  const known = await find(nowMs - idempotencyMs);
  if (known && known.digest !== digest) throw keyConflict();
  if (known) return { result: parseExact(known.result) as T, isReplayed: true };
  const result = await work();
  await put(stringifyExact(result ?? null));
  return { result, isReplayed: false };
}

/** The database kept the key if and only if it kept the change. */
function repeatable(cause: UnknownOutcome): AppError {
  const message =
    'The database did not confirm the change. Send it again with the same Idempotency-Key: it happens once.';
  return new AppError('timeout', message, { cause });
}

function keyConflict(): AppError {
  return new AppError('conflict', 'This Idempotency-Key was used for another request.', {
    fields: { 'Idempotency-Key': 'was used for another request' },
  });
}
