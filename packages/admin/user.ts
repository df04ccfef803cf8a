import type { Visitor } from '@octavo/core/auth';
import type { Permissions } from '@octavo/people/accounts';
import type { OidcSignIn } from '@octavo/people/sign-in';
import type { Content } from '@octavo/web/html';
import type { Visit } from '@octavo/web/pages';
import type { FastifyRequest } from 'fastify';

/** A user who is signed in to the admin. */
export interface AdminUser {
  readonly id: string;
  readonly name: string;
  /** Description of the person, such as `Administrator`. */
  readonly detail: string;
  /** True if the user may do everything, also with accounts of administrators. */
  readonly isSuperuser: boolean;
  readonly permissions: Permissions;
}

/** The user who acts, and the request. */
export interface Actor {
  readonly user: AdminUser;
  readonly request: FastifyRequest;
  /** Client that sent the request. */
  readonly visitor: Visitor;
}

/** Accounts that may sign in to the admin. `T` is the content of the service's page session. */
export interface AdminAccounts<T> {
  /** Returns the signed-in user; undefined for strangers and for users who may not open the admin. */
  userOf(visit: Visit<T>): Promise<AdminUser | undefined>;
  /** The name of a signed-in user who may not open the admin, if there can be such users. */
  strangerOf?(visit: Visit<T>): Promise<string | undefined>;
  /** Signs in from a network address. Throws `unauthenticated`, or `rate_limited` after too many failures. */
  signIn(
    visit: Visit<T>,
    credentials: { username: string; password: string },
    address: string,
  ): Promise<void>;
  /** Signs out. Returns true if it has responded, since that goes on at another site. */
  signOut(visit: Visit<T>): Promise<boolean>;
  /** Link to another way to sign in, above the form of the sign-in page. */
  readonly otherSignIn?: Content;
  /** The sign-in with an OpenID provider, if there is one. */
  readonly oidc?: OidcSignIn<T> | undefined;
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
