import type { FastifyRequest } from 'fastify';
import type { Permissions } from '../accounts/index.ts';
import type { Visitor } from '../auth/visitor.ts';
import type { Visit } from '../html/visit.ts';

/** Somebody who is signed in to the admin. */
export interface AdminUser {
  readonly id: string;
  readonly name: string;
  /** What the person is, such as `Administrator`. */
  readonly detail: string;
  /** Whether the user may do everything, also with accounts of administrators. */
  readonly isSuperuser: boolean;
  readonly permissions: Permissions;
}

/** Who acts, in which request. */
export interface Actor {
  readonly user: AdminUser;
  readonly request: FastifyRequest;
  /** Where the request comes from. */
  readonly visitor: Visitor;
}

/** Who may sign in to the admin, and how. `T` is what the service's page session holds. */
export interface AdminAccounts<T> {
  /** Who is signed in; undefined if nobody is, or somebody who may not open the admin. */
  userOf(visit: Visit<T>): Promise<AdminUser | undefined>;
  /** The name of somebody who is signed in but may not open the admin, if there can be such people. */
  strangerOf?(visit: Visit<T>): Promise<string | undefined>;
  /** Signs in from a network address. Throws `unauthenticated`, or `rate_limited` after too many failures. */
  signIn(
    visit: Visit<T>,
    credentials: { username: string; password: string },
    address: string,
  ): Promise<void>;
  signOut(visit: Visit<T>): Promise<void>;
  /** Changes the user's own password; absent if that is done elsewhere. */
  changePassword?(
    visit: Visit<T>,
    user: AdminUser,
    given: { currentPassword: string; newPassword: string },
  ): Promise<void>;
  /** Creates the first administrator by a one-time link; absent if there are no such links. */
  readonly setup?: {
    isOpen(token: string): Promise<boolean>;
    create(
      visit: Visit<T>,
      token: string,
      credentials: { username: string; password: string },
    ): Promise<void>;
  };
}
