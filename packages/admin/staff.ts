import type { Clock, Log, Suite } from '@octavo/core';
import { AppError } from '@octavo/core';
import { createSessionCookie, type SessionCookieOptions } from '@octavo/core/auth';
import type { Database } from '@octavo/data';
import {
  type Accounts,
  type AccountTables,
  accountPasswords,
  allPermissions,
  sessionLimits,
  type User,
} from '@octavo/people/accounts';
import {
  Checks,
  endOtherRoles,
  Identities,
  type OidcConfig,
  OidcSignIn,
  type OidcTables,
  Provider,
  providerOf,
  type SignInRealm,
} from '@octavo/people/sign-in';
import type { Visit } from '@octavo/web/pages';
import { visitorOf } from '@octavo/web/server';
import type { AdminAccounts, AdminUser } from './user.ts';

/** The part of a page session that says who is signed in: the token of a session of `packages/people/accounts`. */
export interface AccountSession {
  readonly token: string;
}

/** Storage of the token in the browser. */
export interface TokenStore<T> {
  read(visit: Visit<T>): string | undefined;
  /** Keeps a token, or forgets it. */
  write(visit: Visit<T>, token: string | undefined): void;
}

/**
 * Lets the staff of `packages/people/accounts` into the admin. The token is in the page session, unless other people sign in to the pages: then
 * it is in {@link staffCookie}.
 */
export function staffAccounts<T = AccountSession>(
  accounts: Accounts,
  tokens: TokenStore<T> = pageSession as unknown as TokenStore<T>,
  oidc?: OidcSignIn<T>,
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
      return oidc !== undefined && token !== undefined
        ? oidc.signOut(visit, accounts.sessions.keyOf(token))
        : false;
    },
    oidc,
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

/** The staff's sign-in with the OpenID provider of the settings; undefined without one. Roles of other providers have ended after it. */
export async function openStaffSignIn<T = AccountSession>(
  accounts: Accounts,
  options: StaffSignInOptions,
  tokens: TokenStore<T> = pageSession as unknown as TokenStore<T>,
): Promise<OidcSignIn<T> | undefined> {
  const { config, publicUrl, context, name, title, secret } = options;
  const settings = providerOf(config, publicUrl);
  await endOtherRoles({ ...options, issuer: settings?.issuer, host: accounts.host() });
  if (!settings) return undefined;
  const { clock, log, suite } = context;
  const parts = { settings, name, title, secret, clock, log, suite };
  const provider = new Provider(parts);
  const site = staffRealm(accounts, { ...options, provider, issuer: settings.issuer }, tokens);
  return new OidcSignIn<T>({ ...parts, realms: { site } }, provider);
}

const pageSession: TokenStore<AccountSession> = {
  read: ({ who }) => who?.token,
  write: (visit, token) => (token === undefined ? visit.signOut() : visit.signIn({ token })),
};

/**
 * A cookie beside the page session, for a service whose pages are for people of another kind: staff may be signed in to the admin and, as
 * another user, to the pages.
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

/** Parts of {@link openStaffSignIn}. */
export interface StaffSignInOptions {
  readonly config: OidcConfig;
  /** The address of the service, if a setting has it. */
  readonly publicUrl?: string | undefined;
  readonly database: Database<AccountTables & OidcTables>;
  readonly context: { readonly clock: Clock; readonly log: Log; readonly suite?: Suite | undefined };
  /** The service's name in lower case, and as pages have it. */
  readonly name: string;
  readonly title: string;
  /** Encrypts cookies and kept tokens; at least 32 bytes. */
  readonly secret: string;
  readonly stack: AsyncDisposableStack;
  /** Path of the sign-in page; that of the admin by default. */
  readonly signInPath?: string;
  /** Kind of accounts, where a service has several. */
  readonly realm?: string;
}

/** The accounts of the staff for the sign-in with a provider. */
export function staffRealm<T>(
  accounts: Accounts,
  options: StaffSignInOptions & { readonly provider: Provider; readonly issuer: string },
  tokens: TokenStore<T>,
): SignInRealm<T> {
  const { database, context, secret, issuer, realm, provider, stack } = options;
  const { clock, log } = context;
  const people = new Identities({ database, clock, secret, issuer, realm, host: accounts.host() });
  stack.use(new Checks({ identities: people, provider, log }));
  return {
    people,
    passwords: accountPasswords(accounts),
    signInPath: options.signInPath ?? '/admin/login/',
    async start(visit, account) {
      const user = await accounts.byId(Number(account));
      if (!user?.isActive) throw new AppError('forbidden', 'This account is blocked.');
      const before = tokens.read(visit);
      if (before !== undefined) await accounts.sessions.end(before);
      const token = await accounts.sessions.start(user, visitorOf(visit.request));
      tokens.write(visit, token);
      return { key: accounts.sessions.keyOf(token), expiresAtMs: clock.now() + sessionLimits.maxAgeMs };
    },
    async signedIn(visit) {
      const token = tokens.read(visit);
      const user = token === undefined ? undefined : await accounts.sessions.userOf(token);
      return user && { account: String(user.id), key: accounts.sessions.keyOf(token ?? '') };
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
