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
  /** The account in which a command begins, if it is known to be about a budget that is shared with the caller. */
  readonly account?: number | undefined;
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
  /** The account whose rows are written. */
  readonly owner: number;
  /** The account that acts: the owner, or one with which a budget of the owner is shared. */
  readonly actor: number;
  readonly config: BudgetsConfig;
  /** The time of the whole transaction. */
  readonly nowMs: number;
  /** Steps at the end of the transaction. */
  readonly beforeCommit: (() => Promise<void>)[];
}

/** Thrown by a command whose budget is in another account, which shares it with the caller: it begins again there. */
export class OtherAccount extends Error {
  readonly owner: number;

  constructor(owner: number) {
    super('the budget is in another account');
    this.owner = owner;
  }
}

/** Retention of the result of a command. */
export const idempotencyMs = 24 * 3_600_000;

/**
 * Runs a command in one transaction. Those of one account run one after another, and those that wait share a commit. With an
 * idempotency key, the result (as JSON) is stored with it, and is returned if the same command comes again within 24 hours. About a
 * budget that is shared with the caller, it runs in the account of the budget. Throws `validation_failed` if it is about two accounts.
 */
export async function runCommand<T>(
  context: Context,
  caller: Caller,
  work: Work<T>,
  options: CommandOptions = {},
): Promise<T> {
  let { account = caller.owner } = caller;
  for (let moves = 0; ; moves++) {
    try {
      return await runIn(context, caller, { ...options, account, work });
    } catch (error) {
      if (!(error instanceof OtherAccount)) throw error;
      if (moves === movesMax) throw twoAccounts();
      account = error.owner;
    }
  }
}

/** Accounts that a command may be sent on to: that of its budget, and that of an heir who just got it. */
const movesMax = 2;

type Work<T> = (transaction: AccountTransaction) => Promise<T>;

interface CommandOptions {
  readonly alone?: boolean;
}

async function runIn<T>(
  context: Context,
  caller: Caller,
  { account, work, ...options }: CommandOptions & { readonly account: number; readonly work: Work<T> },
): Promise<T> {
  const { idempotency, signal } = caller;
  let isReplayed = false;
  const locks = lockedBy(caller.owner, account).map((number) => `account ${number}`);
  const write = context.db.write(
    async (session) => {
      isReplayed = false;
      signal?.throwIfAborted();
      const { clock, config } = context;
      const place = { session, owner: account, actor: caller.owner, config };
      const transaction: AccountTransaction = { ...place, nowMs: clock.now(), beforeCommit: [] };
      const done = idempotency
        ? await runOnce(resultsOf(transaction, idempotency), () => complete(transaction, work))
        : { result: await complete(transaction, work), isReplayed };
      if (!done.isReplayed) signal?.throwIfAborted();
      isReplayed = done.isReplayed;
      return done.result;
    },
    { ...options, locks },
  );
  const result = await write.catch((error: unknown) => {
    throw idempotency && error instanceof UnknownOutcome ? repeatable(error) : error;
  });
  if (isReplayed) idempotency?.onReplayed?.();
  else context.onCommitted();
  return result;
}

async function complete<T>(transaction: AccountTransaction, work: Work<T>): Promise<T> {
  const result = await work(transaction);
  for (const end of transaction.beforeCommit) await end();
  return result;
}

/** Two accounts are locked in the order of their numbers, so that no two commands wait for each other. */
function lockedBy(actor: number, owner: number): number[] {
  return actor === owner ? [owner] : [Math.min(actor, owner), Math.max(actor, owner)];
}

function twoAccounts(): AppError {
  const message = 'Budgets of different accounts cannot be changed together.';
  return new AppError('validation_failed', message, {
    fields: { budgetId: 'must be in the same account as the expenses' },
  });
}

/** Deletes keys that have expired. */
export async function deleteOldIdempotencyKeys({ db, clock }: Context): Promise<void> {
  await sweepIdempotencyKeys(db, clock.now() - idempotencyMs);
}

function resultsOf(
  { session, actor: owner, nowMs }: AccountTransaction,
  { key, digest }: Idempotency,
): ResultStore {
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
