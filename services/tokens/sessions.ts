import type { RefreshFamily } from '#kit/auth/refresh.ts';
import type { Visitor } from '#kit/auth/visitor.ts';
import { newId } from '#kit/ids.ts';
import type { User } from './users.ts';

/** One sign-in and all tokens that came from it. */
export interface Session extends RefreshFamily {
  readonly id: string;
  readonly user: User;
  readonly createdMs: number;
  /** When its newest refresh token ends. */
  expiresMs: number;
  lastUsedMs: number;
  /** SHA-256 of the active refresh token's `jti`. Those before it are known by their generation. */
  tokenHash: string;
  generation: number;
  rotatedMs: number | undefined;
  readonly visitor: Visitor;
}

const perUserMax = 100;
const sweptAtOnce = 10_000;

/** All live sessions, in memory; a user has at most 100, of which the oldest gives way. */
export class Sessions {
  readonly #byId = new Map<string, Session>();
  #sweeping: Iterator<Session> | undefined;

  get size(): number {
    return this.#byId.size;
  }

  open(user: User, visitor: Visitor, nowMs: number): Session {
    const session: Session = {
      id: newId(),
      user,
      createdMs: nowMs,
      expiresMs: nowMs,
      lastUsedMs: nowMs,
      tokenHash: '',
      generation: 0,
      rotatedMs: undefined,
      visitor,
    };
    const [oldest] = user.sessions;
    if (oldest && user.sessions.length >= perUserMax) this.revoke(oldest);
    // Unlike a spread, which leaves room to grow, it takes no more memory than it must.
    user.sessions = user.sessions.concat(session);
    this.#byId.set(session.id, session);
    return session;
  }

  /** The session while it lives. */
  find(id: string, nowMs: number): Session | undefined {
    const session = this.#byId.get(id);
    return session && nowMs < session.expiresMs ? session : undefined;
  }

  /** The live sessions of a user, newest first. */
  of(user: User, nowMs: number): Session[] {
    return user.sessions.filter((session) => nowMs < session.expiresMs).reverse();
  }

  revoke(session: Session): void {
    if (!this.#byId.delete(session.id)) return;
    session.user.sessions = session.user.sessions.filter((other) => other !== session);
  }

  revokeAll(user: User): void {
    for (const session of user.sessions) this.#byId.delete(session.id);
    user.sessions = [];
  }

  /** Forgets some of what has expired; called again and again it comes round to all, without a long pause. */
  sweep(nowMs: number): void {
    this.#sweeping ??= this.#byId.values();
    for (let looked = 0; looked < sweptAtOnce; looked++) {
      const { value: session, done } = this.#sweeping.next();
      if (done) {
        this.#sweeping = undefined;
        return;
      }
      if (nowMs >= session.expiresMs) this.revoke(session);
    }
  }
}
