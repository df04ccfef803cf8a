import { createHash } from 'node:crypto';
import type { Clock } from '@octavo/core';
import { newSecret } from '@octavo/core';
import type { Visitor } from '@octavo/core/auth';
import type { Database } from '@octavo/data';
import {
  type AccountTables,
  deleteSession,
  deleteSessions,
  insertSession,
  noteSignIn,
  sweepSessions,
  toUser,
  touchSession,
  userOfSession,
} from './store.ts';
import type { User } from './user.ts';

const day = 86_400_000;
/** Longest life of a session, and its longest time without a request. */
export const sessionLimits = { maxAgeMs: 14 * day, idleMs: 3 * day } as const;
const touchEveryMs = 60 * 60_000;

export interface SessionsOptions {
  readonly database: Database<AccountTables>;
  readonly clock: Clock;
}

/** Browsers that are signed in: 14 days at most, 3 days without a request. Only hashes of their tokens are stored. */
export class Sessions {
  readonly #options: SessionsOptions;

  constructor(options: SessionsOptions) {
    this.#options = options;
  }

  /** The token of a new session, for the cookie of the browser. */
  async start(user: Pick<User, 'id'>, visitor: Visitor): Promise<string> {
    const { database, clock } = this.#options;
    const token = newSecret();
    const nowMs = clock.now();
    await database.write(async (session) => {
      await insertSession(session, {
        hash: hashOf(token),
        user_id: user.id,
        created_at_ms: nowMs,
        last_used_at_ms: nowMs,
        expires_at_ms: nowMs + sessionLimits.maxAgeMs,
        address: visitor.address,
        user_agent: visitor.userAgent,
      });
      // Also of people who come from a provider, without a password.
      await noteSignIn(session, user.id, nowMs);
    });
    return token;
  }

  /** Returns the user signed in with a token; undefined if the session has ended or the user may no longer sign in. */
  async userOf(token: string): Promise<User | undefined> {
    const { database, clock } = this.#options;
    const nowMs = clock.now();
    const hash = hashOf(token);
    const idleSinceMs = nowMs - sessionLimits.idleMs;
    const row = await userOfSession(database, { hash, nowMs, idleSinceMs });
    if (!row) return undefined;
    if (row.last_used_at_ms <= nowMs - touchEveryMs) await touchSession(database, hash, nowMs);
    return toUser(row);
  }

  /** Ends one session. */
  async end(token: string): Promise<void> {
    await deleteSession(this.#options.database, hashOf(token));
  }

  /** Names a session without its token. */
  keyOf(token: string): string {
    return hashOf(token);
  }

  /** Ends the sessions with these keys. */
  async endByKeys(keys: readonly string[]): Promise<void> {
    for (const hash of keys) await deleteSession(this.#options.database, hash);
  }

  /** Ends all sessions of a user, except the one with this token. */
  async endAll(user: Pick<User, 'id'>, exceptToken = ''): Promise<void> {
    await deleteSessions(this.#options.database, user.id, hashOf(exceptToken));
  }

  /** Deletes sessions that have ended. */
  async sweep(): Promise<void> {
    await sweepSessions(this.#options.database, this.#options.clock.now());
  }
}

function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('base64url');
}
