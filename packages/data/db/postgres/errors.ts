import { setTimeout as delay } from 'node:timers/promises';
import { AppError } from '@octavo/core';
import pg from 'pg';
import { databaseUnavailable, referenceConflict, UnknownOutcome, uniqueConflict } from '../errors.ts';

const uniqueViolation = '23505';
const foreignKeyViolations = new Set(['23503', '23001']);
const attempts = 12;
const conflictsOfTransactions = new Set(['40001', '40P01']);
/**
 * Connection (08), a transaction that was idle too long (25P03), resources such as a full disk (53), a lock or a statement that took
 * too long (55P03, 57014), shutdown and start (57P0x), input and output (58).
 */
const unavailable = /^(?:08|25P03|53|55P03|57014|57P0|58)/;

/** Columns of each unique constraint or index of the schema, by its name. */
export type ConstraintColumns = ReadonlyMap<string, readonly string[]>;

/** The connection itself failed, so nothing more can be done on it. */
export class ConnectionLost extends Error {
  constructor(cause: unknown) {
    super('the connection to PostgreSQL was lost', { cause });
    this.name = 'ConnectionLost';
  }
}

/** True if a COMMIT surely changed nothing: the server said so, and lives on. */
export function isRolledBack(error: unknown): boolean {
  if (!(error instanceof pg.DatabaseError)) return false;
  return !/^(?:08|57P)/.test(codeOf(error)) && error.severity !== 'PANIC';
}

/** Returns true if the transaction may succeed when it runs again: two conflicted, or a prepared plan went stale. */
export function isTransient(error: unknown): boolean {
  return conflictsOfTransactions.has(codeOf(error)) || isStalePlan(error);
}

/** Repeats a transaction as long as its error {@link isTransient}, a dozen times in all. */
export async function whileTransient<T>(transact: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await transact();
    } catch (error) {
      if (!isTransient(error) || attempt === attempts) throw error;
    }
    await delay(Math.random() * Math.min(2 ** attempt, 200));
  }
}

const poolerIsFull = 'no more connections allowed';

/** Returns true if the server, the database, the role or the pooler has as many connections as it may have. */
export function isAtConnectionLimit(error: unknown): boolean {
  const code = codeOf(error);
  return (
    code === '53300' || (code === '08P01' && (error as pg.DatabaseError).message.startsWith(poolerIsFull))
  );
}

/** Returns true if the connection is no longer usable: the server closes it, or it keeps a stale plan. */
export function mustReconnect(error: unknown): boolean {
  return error instanceof UnknownOutcome || /^(?:08|25P03|57P)/.test(codeOf(error)) || isStalePlan(error);
}

/** A migration of another process changed what a prepared `select *` returns; a new connection plans it again. */
function isStalePlan(error: unknown): boolean {
  return codeOf(error) === '0A000' && (error as pg.DatabaseError).routine === 'RevalidateCachedQuery';
}

/** Translates an error of `pg` for callers, by its SQLSTATE (PostgreSQL manual, appendix A). */
export function fromPostgresError(error: unknown, columns: ConstraintColumns): unknown {
  const code = codeOf(error);
  if (code === uniqueViolation) {
    return uniqueConflict(columns.get((error as pg.DatabaseError).constraint ?? '') ?? [], error);
  }
  if (foreignKeyViolations.has(code)) return referenceConflict(error);
  if (unavailable.test(code) || isTransient(error) || error instanceof ConnectionLost)
    return databaseUnavailable(error);
  return error;
}

/** A login that is refused (28), a database or a schema that does not exist (3D, 3F), and rights that lack (42501). */
const wrongSettings = /^(?:28|3D|3F|42501)/;

/**
 * The error of opening a database where its address, or the server, has to be mended by a person, in the words of PostgreSQL; undefined for
 * others. It names the server without the password.
 */
export function startError(error: unknown, url: string): AppError | undefined {
  const place = `PostgreSQL at ${new URL(url).host || 'its socket'}`;
  const options = { retryAfterSeconds: 1, cause: error };
  const isWrong = wrongSettings.test(codeOf(error));
  if (isWrong || unavailable.test(codeOf(error))) {
    const advice = isWrong ? ' Correct DATABASE_URL, or the role and its rights.' : '';
    return new AppError('unavailable', `${place} refuses it: ${(error as Error).message}.${advice}`, options);
  }
  if (!(error instanceof ConnectionLost)) return undefined;
  const { code, message } = (error.cause ?? {}) as { code?: string; message?: string };
  const reason = code ?? message ?? 'no answer';
  return new AppError(
    'unavailable',
    `${place} cannot be reached (${reason}). Start it, or correct DATABASE_URL.`,
    options,
  );
}

function codeOf(error: unknown): string {
  return error instanceof pg.DatabaseError ? (error.code ?? '') : '';
}
