/**
 * Limits of the server for a statement, for waiting for a lock, and for an idle open transaction. When one process freezes in a
 * transaction, the others get its locks before their own wait is over.
 */
export interface ServerTimeouts {
  readonly statementMs: number;
  readonly lockMs: number;
  readonly idleInTransactionMs: number;
}

/** A connection of a request. Waiting for a lock takes at most as long as on SQLite. */
export const requestTimeouts: ServerTimeouts = {
  statementMs: 60_000,
  lockMs: 15_000,
  idleInTransactionMs: 10_000,
};

/** A connection of a stream: one batch may compute for long, and a slow consumer may take its time with each. */
export const streamTimeouts: ServerTimeouts = {
  statementMs: 600_000,
  lockMs: 15_000,
  idleInTransactionMs: 120_000,
};

/** A migration or a restore: it waits for another process that migrates, and a step over a large table takes long. */
export const migrationTimeouts: ServerTimeouts = {
  statementMs: 0,
  lockMs: 120_000,
  idleInTransactionMs: 60_000,
};

/** The statements that set the timeouts, for the connection (`SET`) or for a transaction (`SET LOCAL`). */
export function timeoutSettings(set: 'SET' | 'SET LOCAL', timeouts: ServerTimeouts): string {
  return `${set} statement_timeout = ${timeouts.statementMs}; ${set} lock_timeout = ${timeouts.lockMs};
    ${set} idle_in_transaction_session_timeout = ${timeouts.idleInTransactionMs}`;
}
