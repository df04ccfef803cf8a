import type { Clock } from '#kit/clock.ts';
import type { Database, WriteSession } from '#kit/db/index.ts';
import { AppError } from '#kit/errors.ts';
import { findIdempotencyKey, putIdempotencyKey, sweepIdempotencyKeys } from './store.ts';
import type { Tables } from './tables.ts';

/** What every rule works on. */
export interface Core {
  readonly db: Database<Tables>;
  readonly clock: Clock;
  /** Called after each commit, so that those who wait for events look at once. */
  onCommitted(): void;
}

/** Who calls, on whichever edge. Everything that belongs to somebody else does not exist for them. */
export interface Caller {
  /** The number of the account, which owns all rows. */
  readonly owner: number;
  /** The id of the account, as clients know it. */
  readonly userId: string;
  /** Set if the caller wants the command to happen once. */
  readonly idempotency?: Idempotency | undefined;
  /** Aborts when the caller was answered already, as at a deadline: then nothing is done any more. */
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
export interface UnitOfWork {
  readonly session: WriteSession<Tables>;
  readonly owner: number;
  /** The time of the whole transaction. */
  readonly nowMs: number;
}

/** How long the result of a command is kept. */
export const idempotencyMs = 24 * 3_600_000;

/**
 * Runs a command in one transaction. Those of one account run one after another. With an idempotency key, the result (as JSON) is
 * stored with it, and is returned if the same command comes again within 24 hours.
 */
export async function runCommand<T>(
  core: Core,
  caller: Caller,
  work: (unit: UnitOfWork) => Promise<T>,
  options: { readonly alone?: boolean } = {},
): Promise<T> {
  const { idempotency, signal } = caller;
  let isReplayed = false;
  const result = await core.db.write(async (session) => {
    isReplayed = false;
    await session.lock(`account ${caller.owner}`);
    signal?.throwIfAborted();
    const unit = { session, owner: caller.owner, nowMs: core.clock.now() };
    const known = idempotency && (await findResult(unit, idempotency));
    if (known !== undefined) {
      isReplayed = true;
      return JSON.parse(known) as T;
    }
    const fresh = await work(unit);
    if (idempotency) await keepResult(unit, idempotency, fresh);
    signal?.throwIfAborted();
    return fresh;
  }, options);
  if (isReplayed) idempotency?.onReplayed?.();
  else core.onCommitted();
  return result;
}

/** Deletes keys that have expired. */
export async function deleteOldIdempotencyKeys({ db, clock }: Core): Promise<void> {
  await sweepIdempotencyKeys.run(db, { beforeMs: clock.now() - idempotencyMs });
}

async function findResult(
  { session, owner, nowMs }: UnitOfWork,
  { key, digest }: Idempotency,
): Promise<string | undefined> {
  const known = await findIdempotencyKey.first(session, { owner, key, sinceMs: nowMs - idempotencyMs });
  if (known && known.digest !== digest) throw keyConflict();
  return known?.result;
}

async function keepResult(
  { session, owner, nowMs }: UnitOfWork,
  { key, digest }: Idempotency,
  result: unknown,
): Promise<void> {
  const stored = JSON.stringify(result ?? null);
  await putIdempotencyKey.run(session, { owner, key, digest, result: stored, nowMs });
}

export function keyConflict(): AppError {
  return new AppError('conflict', 'This Idempotency-Key was used for another request.', {
    fields: { 'Idempotency-Key': 'was used for another request' },
  });
}
