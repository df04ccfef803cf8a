import { refusals } from './refusals.ts';
import type { Session } from './sessions.ts';

export interface User {
  readonly id: string;
  /** In its one spelling; changed by {@link Users.changeEmail} alone. */
  email: string;
  readonly createdMs: number;
  passwordHash: string;
  /** Oldest first. Replaced, never changed in place: most users have one, and an array made to measure is small. */
  sessions: readonly Session[];
}

/** All users, in memory. An address is taken from the moment it is reserved, so that of two registrations one wins. */
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

  /** Holds an address while the password is hashed; `add` or `release` must follow. */
  reserve(email: string): void {
    if (this.#isTaken(email)) throw refusals.duplicateEmail();
    if (this.#byId.size + this.#reserved.size >= this.#usersMax) throw refusals.full();
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
    if (this.#isTaken(email)) throw refusals.duplicateEmail();
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
