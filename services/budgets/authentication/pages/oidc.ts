import { staffRealm, type TokenStore } from '@octavo/admin';
import type { Log, Suite } from '@octavo/core';
import { AppError, newOrderedId } from '@octavo/core';
import { normalizeEmail } from '@octavo/core/auth';
import type { Passwords } from '@octavo/core/passwords';
import type { Lockout, Accounts as Staff } from '@octavo/people/accounts';
import {
  type AccountHost,
  Checks,
  endOtherRoles,
  Identities,
  type OidcConfig,
  OidcSignIn,
  Provider,
  providerOf,
  type SignInRealm,
} from '@octavo/people/sign-in';
import type { Caller, Context } from '../../commands.ts';
import type { PageSession } from '../../site/page-context.ts';
import type { Tables } from '../../store/tables.ts';
import { ownPasswords } from '../own-password.ts';
import { accountByEmail, accountByNumber, deleteSession, insertAccount, verifyAddress } from '../store.ts';
import { authenticateSession, browserSeconds, endSession, startSession } from '../tokens.ts';
import { placeholderAddress } from '../user.ts';

export interface OidcParts {
  readonly config: OidcConfig & { readonly BUDGETS_PUBLIC_URL: string | undefined };
  readonly context: Context;
  readonly passwords: Pick<Passwords, 'unknowable'>;
  readonly lockout: Lockout;
  readonly staff: Staff;
  /** Place of the staff's session. */
  readonly staffTokens: TokenStore<PageSession>;
  readonly secret: string;
  readonly log: Log;
  readonly suite: Suite | undefined;
  readonly stack: AsyncDisposableStack;
  /** Prepares the account at a sign-in; runs before its session starts. */
  readonly welcome: (caller: Caller, email: string) => Promise<void>;
}

const usernameCharactersMax = 64;

/** The sign-in with the OpenID provider of the settings: accounts of the pages, and, coming from the admin, the staff. */
export async function openSignIn(parts: OidcParts): Promise<OidcSignIn<PageSession> | undefined> {
  const { config, context, secret, staff, staffTokens, log, suite } = parts;
  const settings = providerOf(config, config.BUDGETS_PUBLIC_URL);
  const { clock, db: database } = context;
  // Accounts of the pages have no roles.
  await endOtherRoles({ database, realm: 'staff', issuer: settings?.issuer, host: staff.host() });
  if (!settings) return undefined;
  const common = { settings, name: 'budgets', title: 'Budgets', secret, clock, log, suite };
  const provider = new Provider(common);
  const { issuer } = settings;
  const site = siteRealm(parts, { provider, issuer });
  const options = {
    ...parts,
    database,
    context: { clock, log },
    name: 'budgets',
    title: 'Budgets',
    realm: 'staff',
  };
  const admin = staffRealm(staff, { ...options, provider, issuer }, staffTokens);
  return new OidcSignIn<PageSession>({ ...common, realms: { site, admin } }, provider);
}

function siteRealm(
  { context, passwords, lockout, secret, log, stack, welcome }: OidcParts,
  { provider, issuer }: { provider: Provider; issuer: string },
): SignInRealm<PageSession> {
  const { clock, db: database } = context;
  const people = new Identities({ database, clock, secret, issuer, host: accountHost(context, passwords) });
  stack.use(new Checks({ identities: people, provider, log }));
  return {
    people,
    passwords: ownPasswords({ context, lockout }),
    signInPath: '/sign-in',
    async start(visit, account) {
      const owner = Number(account);
      const row = await accountByNumber(database, owner);
      if (!row || row.disabled === 1) throw new AppError('forbidden', 'This account is blocked.');
      await welcome({ owner, userId: row.id }, row.email);
      if (visit.who) await endSession(database, visit.who);
      const nowMs = clock.now();
      const started = { owner, userId: row.id, nowMs, seconds: browserSeconds };
      const { sessionId } = await startSession(database, started);
      visit.signIn({ sessionId });
      return { key: sessionId, expiresAtMs: nowMs + browserSeconds * 1_000 };
    },
    async signedIn({ who }) {
      const found = who && (await authenticateSession(context, who.sessionId));
      return found && { account: String(found.owner), key: found.sessionId };
    },
  };
}

/** Accounts have no roles. */
function accountHost({ db, clock }: Context, passwords: Pick<Passwords, 'unknowable'>): AccountHost<Tables> {
  return {
    has: async (session, account) => (await accountByNumber(session, Number(account)))?.erased_at_ms === null,
    async create(session, { name, email: given }) {
      const id = newOrderedId();
      const known = given === undefined ? undefined : normalizeEmail(given);
      // An address alone connects no account: its owner signs in to the account and connects it there.
      const isFree = known !== undefined && !(await accountByEmail(session, known));
      const email = isFree ? known : placeholderAddress(id);
      const username = [...name.trim()].slice(0, usernameCharactersMax).join('');
      const nowMs = clock.now();
      const passwordHash = passwords.unknowable();
      const added = await insertAccount(session, { id, email, username, passwordHash, nowMs });
      if (!added) throw new AppError('conflict', 'This address was registered at the same time.');
      if (isFree) await verifyAddress(session, { owner: added.number, email, nowMs });
      return String(added.number);
    },
    async setRoles() {},
    async end(keys) {
      for (const id of keys) await deleteSession(db, id);
    },
  };
}
