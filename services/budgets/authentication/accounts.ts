import type { Log } from '@octavo/core';
import { AppError, newOrderedId } from '@octavo/core';
import { logSignIn, normalizeEmail } from '@octavo/core/auth';
import type { Background } from '@octavo/core/concurrency';
import type { PasswordRules, Passwords } from '@octavo/core/passwords';
import type { Lockout } from '@octavo/people/accounts';
import { type OidcSignIn, passwordsOff } from '@octavo/people/sign-in';
import type { Caller, Context } from '../commands.ts';
import { invalid } from '../edges/schema-parser.ts';
import type { AccountRow } from '../store/tables.ts';
import { doOnce, type Once } from './anonymous-idempotency.ts';
import { eraseAccount } from './erasure.ts';
import { addLink, invalidLink, type LinkKind, type LinkTokens, useLink } from './links.ts';
import { confirmPassword } from './own-password.ts';
import {
  accountByEmail,
  accountByNumber,
  deleteLinksOf,
  deleteSessionsOf,
  insertAccount,
  rehash,
  setPassword,
  updateAccount,
  verifyAddress,
} from './store.ts';
import { type BrowserSession, type NewSession, startSession, type Tokens, tokenOf } from './tokens.ts';
import {
  addressOf,
  checkUsername,
  type EmailVerification,
  errors,
  type Login,
  type PasswordReset,
  type Profile,
  type ProfileChange,
  type Registration,
  toProfile,
  toUser,
  type User,
} from './user.ts';

/** Dependencies of the account commands. */
export interface Accounts {
  readonly context: Context;
  readonly log: Log;
  readonly passwords: Passwords;
  readonly rules: PasswordRules;
  readonly lockout: Lockout;
  readonly tokens: Tokens;
  /** Signs in with the OpenID provider, if there is one. */
  readonly oidc: OidcSignIn<BrowserSession> | undefined;
  readonly links: LinkTokens;
  readonly background: Background;
  /** Sends the mail of a link. */
  mail(linkId: string): Promise<void>;
}

interface SignedInUser {
  readonly user: User;
  readonly sessionId: string;
  readonly token: string;
}

interface SignInOptions {
  /** Duration of the session; that of its token by default. */
  readonly seconds?: number;
  readonly once?: Once | undefined;
}

/** Creates an account and signs it in. A mail with a link to verify its address follows. */
export async function register(
  accounts: Accounts,
  given: Registration,
  { seconds, once }: SignInOptions = {},
): Promise<SignedInUser> {
  const { context, rules, passwords } = accounts;
  if (accounts.oidc?.isOnly) throw passwordsOff();
  const email = normalizeEmail(given.email);
  if (email === undefined) throw invalid({ email: 'must be an e-mail address' });
  checkUsername({ username: given.username });
  await checkPassword(rules, given.password, { email, field: 'password' });
  const passwordHash = await passwords.hash(given.password);
  const { clock, db } = context;
  const userId = newOrderedId();
  const username = given.username ?? null;
  let linkId: string | undefined;
  const started = await db.write((session) => {
    linkId = undefined;
    const nowMs = clock.now();
    return doOnce(session, once, nowMs, async () => {
      const added = await insertAccount(session, { id: userId, email, username, passwordHash, nowMs });
      if (!added) throw errors.taken();
      const owner = added.number;
      linkId = await addLink(session, { owner, email, kind: 'verify' }, clock);
      const started = await startSession(session, { owner, userId, nowMs, seconds });
      const account = (await accountByNumber(session, owner)) as AccountRow;
      return { owner, result: { user: toUser(account), started } };
    });
  });
  const id = linkId;
  if (id !== undefined) accounts.background.run('a mail', () => accounts.mail(id));
  return signedIn(accounts, started);
}

/** Signs in with a password. An address without an account gets the same error after the same time. */
export function login(accounts: Accounts, given: Login, options: SignInOptions = {}): Promise<SignedInUser> {
  return logSignIn(
    accounts.log,
    () => logIn(accounts, given, options),
    ({ user }) => user.id,
  );
}

async function logIn(
  accounts: Accounts,
  given: Login,
  { seconds, once }: SignInOptions,
): Promise<SignedInUser> {
  const { context, passwords, lockout } = accounts;
  if (accounts.oidc?.isOnly) throw passwordsOff();
  const email = normalizeEmail(given.email);
  // No account has an invalid address, so the error reveals nothing.
  if (email === undefined) throw errors.wrongCredentials();
  const account = await lockout.attempt(signInOf(email), async (hasher) => {
    const found = await accountByEmail(context.db, email);
    return (await hasher.verify(found?.password_hash, given.password)) ? found : undefined;
  });
  if (!account) throw errors.wrongCredentials();
  if (account.disabled === 1) throw errors.disabled();
  const { number: owner, id: userId, password_hash: from } = account;
  if (passwords.needsRehash(from)) {
    await rehash(context.db, { owner, from, to: await passwords.hash(given.password) });
  }
  const started = await context.db.write((session) => {
    const nowMs = context.clock.now();
    return doOnce(session, once, nowMs, async () => {
      const started = await startSession(session, { owner, userId, nowMs, seconds });
      return { owner, result: { user: toUser(account), started } };
    });
  });
  return signedIn(accounts, started);
}

/** Verifies the address of an account by the token that was mailed there. */
export async function verifyEmail({ context, links }: Accounts, token: string, once?: Once): Promise<void> {
  await context.db.write((session) => {
    const nowMs = context.clock.now();
    return doOnce(session, once, nowMs, async () => {
      const { owner, email } = await useLink(session, links, { token, kind: 'verify', nowMs });
      const { numUpdatedRows } = await verifyAddress(session, { owner, email, nowMs });
      // The account has another address by now.
      if (numUpdatedRows === 0n) throw invalidLink();
      return { owner, result: null };
    });
  });
}

/** Mails a link after the response, if there is such an account: neither the response nor its time tells. */
export function requestLink(accounts: Accounts, kind: LinkKind, given: string): void {
  const { context } = accounts;
  const email = normalizeEmail(given);
  accounts.background.run('a mail', async () => {
    const account = email && (await accountByEmail(context.db, email));
    if (!account || (kind === 'verify' && account.email_verified === 1)) return;
    const owner = account.number;
    const linkId = await context.db.write((session) =>
      addLink(session, { owner, email, kind }, context.clock),
    );
    if (linkId) await accounts.mail(linkId);
  });
}

/** Sets a new password by the token that was mailed, and ends every session of the account. */
export async function resetPassword(
  { context, rules, passwords, links, lockout }: Accounts,
  { token, newPassword }: { token: string; newPassword: string },
  once?: Once,
): Promise<void> {
  await checkPassword(rules, newPassword, { email: '', field: 'newPassword' });
  const passwordHash = await passwords.hash(newPassword);
  const { email } = await context.db.write((session) => {
    const nowMs = context.clock.now();
    return doOnce(session, once, nowMs, async () => {
      const { owner, email } = await useLink(session, links, { token, kind: 'reset', nowMs });
      await checkPassword(rules, newPassword, { email, field: 'newPassword' });
      await setPassword(session, { owner, passwordHash, nowMs });
      await verifyAddress(session, { owner, email, nowMs });
      await deleteLinksOf(session, owner, 'reset');
      await deleteSessionsOf(session, owner, '');
      return { owner, result: { email } };
    });
  });
  await lockout.forget(signInOf(email));
}

/** Handles `POST /api/auth/verify-email`: uses a link, or sends another mail. */
export async function verifyOrRequest(
  accounts: Accounts,
  given: EmailVerification,
  once?: Once,
): Promise<void> {
  if (given.token !== undefined) await verifyEmail(accounts, given.token, once);
  else if (given.email !== undefined) await requestOnce(accounts, 'verify', given.email, once);
  else throw invalid({ token: 'is required, or email' });
}

/** Handles `POST /api/auth/reset-password`: sends a link, or sets a new password with the token of one. */
export async function resetOrRequest(
  accounts: Accounts,
  given: PasswordReset,
  once?: Once,
): Promise<'mailed' | 'reset'> {
  const { email, token, newPassword } = given;
  if (token !== undefined && newPassword !== undefined) {
    await resetPassword(accounts, { token, newPassword }, once);
    return 'reset';
  }
  if (token !== undefined) throw invalid({ newPassword: 'is required' });
  if (newPassword !== undefined) throw invalid({ token: 'is required: ask for a link with email alone' });
  if (email === undefined) throw invalid({ email: 'is required' });
  await requestOnce(accounts, 'reset', email, once);
  return 'mailed';
}

/** The key is kept whether or not there is such an account. */
async function requestOnce(accounts: Accounts, kind: LinkKind, email: string, once?: Once): Promise<void> {
  const { db, clock } = accounts.context;
  let isNew = true;
  if (once) {
    isNew = false;
    await db.write((session) =>
      doOnce(session, once, clock.now(), async () => {
        isNew = true;
        return { result: null };
      }),
    );
  }
  if (isNew) requestLink(accounts, kind, email);
}

export async function getProfile({ context }: Accounts, { owner }: Caller): Promise<Profile> {
  const account = await accountByNumber(context.db, owner);
  if (!account) throw errors.unauthorized();
  return toProfile(account);
}

/** The name shown for an account, and its address; undefined without one. */
export async function accountName(
  { db }: Context,
  { owner }: Caller,
): Promise<{ name: string; email: string | undefined }> {
  const account = await accountByNumber(db, owner);
  if (!account) throw errors.unauthorized();
  const email = addressOf(account);
  return { name: account.username ?? email ?? 'user', email };
}

/** Returns the e-mail address of an account, and if it is verified. */
export async function accountAddress(
  { db }: Context,
  { owner }: Caller,
): Promise<{ email: string; isVerified: boolean }> {
  const account = await accountByNumber(db, owner);
  if (!account) throw errors.unauthorized();
  return { email: account.email, isVerified: account.email_verified === 1 };
}

/** Changes the given fields. A new address must be verified again; a new password ends all other sessions. */
export async function updateProfile(
  accounts: Accounts,
  caller: Caller & { readonly sessionId?: string },
  given: ProfileChange,
): Promise<Profile> {
  const { context, rules, passwords } = accounts;
  const { owner } = caller;
  const email = given.email === undefined ? undefined : normalizeEmail(given.email);
  if (given.email !== undefined && email === undefined) throw invalid({ email: 'must be an e-mail address' });
  checkUsername({ username: given.username });
  const isSensitive = email !== undefined || given.newPassword !== undefined;
  const current = isSensitive ? await confirmPassword(accounts, caller, given.password) : undefined;
  if (given.newPassword !== undefined) {
    const address = email ?? current?.email ?? '';
    await checkPassword(rules, given.newPassword, { email: address, field: 'newPassword' });
  }
  const passwordHash = given.newPassword && (await passwords.hash(given.newPassword));
  const { account, linkId } = await context.db.write(async (session) => {
    const nowMs = context.clock.now();
    const before = await accountByNumber(session, owner);
    if (!before) throw errors.unauthorized();
    const isMoved = email !== undefined && email !== before.email;
    if (isMoved && (await accountByEmail(session, email))) throw errors.taken();
    const change = {
      owner,
      username: given.username === undefined ? before.username : given.username,
      email: email ?? before.email,
      verified: isMoved ? 0 : before.email_verified,
      nowMs,
    };
    const account = (await updateAccount(session, change)) as AccountRow;
    if (passwordHash) {
      await setPassword(session, { owner, passwordHash, nowMs });
      await deleteSessionsOf(session, owner, caller.sessionId ?? '');
      await deleteLinksOf(session, owner, 'reset');
    }
    if (!isMoved) return { account };
    await deleteLinksOf(session, owner, 'reset');
    return { account, linkId: await addLink(session, { owner, email, kind: 'verify' }, context.clock) };
  });
  if (linkId) accounts.background.run('a mail', () => accounts.mail(linkId));
  return toProfile(account);
}

/** Erases an account with everything that belongs to it. */
export async function deleteProfile(accounts: Accounts, caller: Caller, password: string): Promise<void> {
  await confirmPassword(accounts, caller, password);
  await eraseAccount(accounts.context, caller.owner);
}

function signedIn(
  { tokens }: Accounts,
  { user, started }: { user: User; started: NewSession },
): SignedInUser {
  return { user, sessionId: started.sessionId, token: tokenOf(tokens, started) };
}

/** Returns the key that counts wrong passwords at sign-in. Staff are counted in the same table, by keys of their own. */
function signInOf(email: string): string {
  return `address:${email}`;
}

/** Throws `validation_failed` with the rule that the password breaks. */
async function checkPassword(
  rules: PasswordRules,
  password: string,
  { email, field }: { email: string; field: string },
): Promise<void> {
  const problem = await rules.problemOf(password, { email });
  if (problem === undefined) return;
  throw new AppError('validation_failed', `The password ${problem}.`, { fields: { [field]: problem } });
}
