import pg from 'pg';
import { databaseUnavailable, referenceConflict, uniqueConflict } from '../errors.ts';

const uniqueViolation = '23505';
const foreignKeyViolations = new Set(['23503', '23001']);
const conflictsOfTransactions = new Set(['40001', '40P01']);
/**
 * Connection (08), a transaction that was idle too long (25P03), resources such as a full disk (53), a lock or a statement that took
 * too long (55P03, 57014), shutdown and start (57P0x), input and output (58).
 */
const unavailable = /^(?:08|25P03|53|55P03|57014|57P0|58)/;

/** Which columns each unique constraint or index of the schema covers, by its name. */
export type ConstraintColumns = ReadonlyMap<string, readonly string[]>;

/** The connection itself failed, so nothing more can be done on it. */
export class ConnectionLost extends Error {
  constructor(cause: unknown) {
    super('the connection to PostgreSQL was lost', { cause });
    this.name = 'ConnectionLost';
  }
}

/** Whether the same transaction may succeed when it runs again: two conflicted, or a prepared plan went stale. */
export function isTransient(error: unknown): boolean {
  return conflictsOfTransactions.has(codeOf(error)) || isStalePlan(error);
}

/** Whether the connection cannot be used any more: the server closes it, or it keeps a stale plan. */
export function mustReconnect(error: unknown): boolean {
  return /^(?:08|25P03|57P)/.test(codeOf(error)) || isStalePlan(error);
}

/** A migration of another process changed what a prepared `select *` returns; a new connection plans it again. */
function isStalePlan(error: unknown): boolean {
  return codeOf(error) === '0A000' && (error as pg.DatabaseError).routine === 'RevalidateCachedQuery';
}

/** What callers see of an error of `pg`, decided by its SQLSTATE (PostgreSQL manual, appendix A). */
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

function codeOf(error: unknown): string {
  return error instanceof pg.DatabaseError ? (error.code ?? '') : '';
}
