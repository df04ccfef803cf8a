import type { AppError, Log } from '@octavo/core';
import { runEvery } from '@octavo/core/concurrency';
import type { Context } from '../commands.ts';
import { openSessions } from './store.ts';
import type { SignedIn } from './tokens.ts';
import { errors } from './user.ts';

/** Longest time that a connection may stay open after its session has ended. */
const checkMs = 2_000;
/** Sessions that one statement looks up. */
const batchMax = 500;

interface Connection {
  readonly expiresAtMs: number;
  readonly end: (reason: AppError) => void;
}

/**
 * Tells connections that stay open when their session has ended: by its time, a sign-out, a new password, or with its account. It
 * asks the database, since any process may have ended it.
 */
export class SessionWatch implements AsyncDisposable {
  readonly #context: Context;
  readonly #connections = new Map<string, Set<Connection>>();
  readonly #checking: AsyncDisposable;

  constructor(context: Context, log: Log) {
    this.#context = context;
    const failure = 'sessions of open connections could not be checked';
    this.#checking = runEvery(checkMs, () => this.#check(), { log, failure });
  }

  /** Calls `end` when the session has ended, unless the returned function was called before. */
  watch({ sessionId, expiresAtMs }: SignedIn, end: Connection['end']): () => void {
    const connection = { expiresAtMs, end };
    const connections = this.#connections.getOrInsertComputed(sessionId, () => new Set());
    connections.add(connection);
    return () => {
      connections.delete(connection);
      if (connections.size === 0 && this.#connections.get(sessionId) === connections)
        this.#connections.delete(sessionId);
    };
  }

  [Symbol.asyncDispose](): Promise<void> {
    return Promise.resolve(this.#checking[Symbol.asyncDispose]());
  }

  async #check(): Promise<void> {
    const ids = [...this.#connections.keys()];
    for (let start = 0; start < ids.length; start += batchMax) {
      const batch = ids.slice(start, start + batchMax);
      const nowMs = this.#context.clock.now();
      const rows = await openSessions(this.#context.db, JSON.stringify(batch), nowMs);
      const open = new Map(rows.map(({ id, disabled }) => [id, disabled]));
      for (const id of batch) {
        const disabled = open.get(id);
        for (const { expiresAtMs, end } of this.#connections.get(id) ?? [])
          if (disabled === 1) end(errors.disabled());
          else if (disabled === undefined || expiresAtMs <= nowMs) end(errors.unauthorized());
      }
    }
  }
}
