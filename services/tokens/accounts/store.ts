import { newId } from '@octavo/core';
import type { Visitor } from '@octavo/core/auth';
import { errors } from '../errors.ts';
import type { Session, User } from './user.ts';

/** All users, in memory. An e-mail address is taken from the moment it is reserved, so one of two registrations wins. */
export class Users {
  readonly #usersMax: number;
  readonly #byId = new Map<string, User>();
  readonly #byEmail = new Map<string, User>();
  readonly #reserved = new Set<string>();

  constructor(usersMax: number) {
    this.#usersMax = usersMax;
  }

  get size(): number {
    return this.#byId.size;
  }

  find(id: string): User | undefined {
    return this.#byId.get(id);
  }

  findByEmail(email: string): User | undefined {
    return this.#byEmail.get(email);
  }

  /** Holds an address while the password is hashed. Call `add` or `release` next. */
  reserve(email: string): void {
    if (this.#isTaken(email)) throw errors.duplicateEmail();
    if (this.#byId.size + this.#reserved.size >= this.#usersMax) throw errors.tooManyUsers();
    this.#reserved.add(email);
  }

  release(email: string): void {
    this.#reserved.delete(email);
  }

  add(user: User): void {
    this.#reserved.delete(user.email);
    this.#byId.set(user.id, user);
    this.#byEmail.set(user.email, user);
  }

  changeEmail(user: User, email: string): void {
    if (email === user.email) return;
    if (this.#isTaken(email)) throw errors.duplicateEmail();
    this.#byEmail.delete(user.email);
    user.email = email;
    this.#byEmail.set(email, user);
  }

  remove(user: User): void {
    this.#byId.delete(user.id);
    this.#byEmail.delete(user.email);
  }

  #isTaken(email: string): boolean {
    return this.#byEmail.has(email) || this.#reserved.has(email);
  }
}

const perUserMax = 100;
const sweptAtOnce = 10_000;

/** All live sessions, in memory. A user has at most 100; a new one then replaces the oldest. */
export class Sessions {
  readonly #byId = new Map<string, Session>();
  #sweeping: Iterator<Session> | undefined;

  get size(): number {
    return this.#byId.size;
  }

  add(user: User, visitor: Visitor, nowMs: number): Session {
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
    // `concat` allocates an array of exact size; a spread leaves room to grow.
    user.sessions = user.sessions.concat(session);
    this.#byId.set(session.id, session);
    return session;
  }

  /** The session, until it expires. */
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

  /** Removes some of the expired sessions. Each call goes on where the last one stopped, so that none takes long. */
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
