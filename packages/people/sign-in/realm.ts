import type { Visit } from '@octavo/web/pages';
import type { PeopleStore } from './identities.ts';

/** One kind of accounts of a service, as its pages sign in to it. `T` is what its page session holds. */
export interface SignInRealm<T> {
  readonly people: PeopleStore;
  /** Absent for accounts that never have one. */
  readonly passwords?: AccountPasswords<T>;
  /** Path of the sign-in page. That of the admin is for those who come from there. */
  readonly signInPath: string;
  /** Begins a session of an account in this browser, by these methods of authentication (RFC 8176). Throws `forbidden` if the account may not sign in. */
  start(
    visit: Visit<T>,
    account: string,
    amr: readonly string[],
  ): Promise<{ readonly key: string; readonly expiresAtMs: number }>;
  /** The account that is signed in, and the key of its session; undefined for a stranger. */
  signedIn(visit: Visit<T>): Promise<{ readonly account: string; readonly key: string } | undefined>;
}

/** The passwords of one kind of accounts, for what only their owners may do. */
export interface AccountPasswords<T> {
  /** False for an account that was made by a sign-in at the provider, and had no password since. */
  has(account: string): Promise<boolean>;
  /** Throws `unauthenticated` (reason `WRONG_PASSWORD`) for a wrong password, and `rate_limited` after several. */
  check(visit: Visit<T>, account: string, password: string): Promise<void>;
}
