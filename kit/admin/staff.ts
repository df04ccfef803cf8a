import { type Accounts, allPermissions, type User } from '../accounts/index.ts';
import { createSessionCookie, type SessionCookieOptions } from '../auth/session-cookie.ts';
import type { Visit } from '../html/visit.ts';
import { visitorOf } from '../http/visitor.ts';
import type { AdminAccounts, AdminUser } from './user.ts';

/** The part of a page session that says who is signed in: the token of a session of `kit/accounts`. */
export interface AccountSession {
  readonly token: string;
}

/** Where a browser keeps the token. */
export interface TokenStore<T> {
  read(visit: Visit<T>): string | undefined;
  /** Keeps a token, or forgets it. */
  write(visit: Visit<T>, token: string | undefined): void;
}

/**
 * Lets the staff of `kit/accounts` into the admin. The token is in the page session, unless other people sign in to the pages: then
 * it is in {@link staffCookie}.
 */
export function staffAccounts<T = AccountSession>(
  accounts: Accounts,
  tokens: TokenStore<T> = pageSession as unknown as TokenStore<T>,
): AdminAccounts<T> {
  const tokenOf = (visit: Visit<T>) => tokens.read(visit);
  const signedIn = async (visit: Visit<T>) => {
    const token = tokenOf(visit);
    return token === undefined ? undefined : accounts.sessions.userOf(token);
  };
  const begin = async (visit: Visit<T>, user: User) => {
    const before = tokenOf(visit);
    if (before !== undefined) await accounts.sessions.end(before);
    const token = await accounts.sessions.start(user, visitorOf(visit.request));
    tokens.write(visit, token);
  };
  return {
    async userOf(visit) {
      const user = await signedIn(visit);
      return user?.isStaff ? toAdminUser(accounts, user) : undefined;
    },
    async strangerOf(visit) {
      return (await signedIn(visit))?.username;
    },
    async signIn(visit, credentials) {
      await begin(visit, await accounts.signIn(credentials, ({ isStaff }) => isStaff));
    },
    async signOut(visit) {
      const token = tokenOf(visit);
      if (token !== undefined) await accounts.sessions.end(token);
      tokens.write(visit, undefined);
    },
    async changePassword(visit, user, given) {
      const account = await accounts.byId(Number(user.id));
      if (account) await accounts.changePassword(account, given, tokenOf(visit));
    },
    setup: {
      isOpen: (token) => accounts.isSetupToken(token),
      async create(visit, token, credentials) {
        await begin(visit, await accounts.setUp(token, credentials));
      },
    },
  };
}

const pageSession: TokenStore<AccountSession> = {
  read: ({ who }) => who?.token,
  write: (visit, token) => (token === undefined ? visit.signOut() : visit.signIn({ token })),
};

/**
 * A cookie beside the page session, for a service whose pages are for people of another kind: staff may be signed in to the admin and, as
 * somebody else, to the pages.
 */
export function staffCookie<T>(options: Omit<SessionCookieOptions, 'sameSite'>): TokenStore<T> {
  const cookie = createSessionCookie<string>(options);
  return {
    read: ({ request }) => cookie.read(request),
    write(visit, token) {
      if (token === undefined) cookie.clear(visit.reply);
      else cookie.write(visit.reply, token);
      // Forms that were open before are worth nothing after it.
      if (visit.who === undefined) visit.signOut();
      else visit.signIn(visit.who);
    },
  };
}

async function toAdminUser(accounts: Accounts, user: User): Promise<AdminUser> {
  return {
    id: String(user.id),
    name: user.username,
    detail: user.isSuperuser ? 'Administrator' : 'Staff',
    isSuperuser: user.isSuperuser,
    permissions: user.isSuperuser ? allPermissions : await accounts.permissionsOf(user),
  };
}
