import { AppError, newId } from '@octavo/core';
import type { AccountPasswords, NewPerson, PeopleStore, SignInRealm } from '@octavo/people/sign-in';
import type { AuthServiceDefinition } from '@octavo/protocols/authz/v1/authz';
import { roleAmong } from '@octavo/protocols/authz/v1/permissions';
import type { Client } from '@octavo/rpc';
import { pageRoutes } from '../routes.ts';
import { type Access, callOf, tokenLifetimeSeconds } from './access.ts';
import { findSignedIn, type PageSession } from './visitors.ts';

/** Throws `forbidden` for a person of the provider who has no access. */
type Admit = (person: NewPerson) => void;

/** Admits people with a role and, by default, those who proved an address: anybody can sign up without a proof, in any name. */
export function admission({
  provider,
  defaultRole,
}: {
  readonly provider: string;
  readonly defaultRole: 'viewer' | 'none';
}): Admit {
  return ({ roles, email }) => {
    if (roleAmong(roles)) return;
    if (defaultRole === 'none')
      throw new AppError(
        'forbidden',
        `You need a role at ${provider} to use Posts. Ask an administrator for one.`,
      );
    if (email === undefined)
      throw new AppError(
        'forbidden',
        `Posts is for people with a verified e-mail address. Verify yours at ${provider}, then sign in again.`,
      );
  };
}

/** The accounts of authz for the sign-in with an OpenID provider. A session is a token with the key of its own. */
export function accountRealm(
  authz: Client<AuthServiceDefinition>,
  access: Access,
  { admit, nowMs }: { readonly admit: Admit; nowMs(): number },
): SignInRealm<PageSession> {
  return {
    people: remotePeople(authz, admit),
    passwords: accountPasswords(authz),
    signInPath: pageRoutes.signIn,
    async start(visit, uid, amr) {
      const { account } = await authz.getAccount({ uid: Number(uid) }, {});
      if (!account || account.disabled) throw new AppError('forbidden', 'This account is disabled.');
      const key = newId();
      visit.signIn({ token: access.tokenFor(account, { key, amr }) });
      return { key, expiresAtMs: nowMs() + tokenLifetimeSeconds * 1_000 };
    },
    async signedIn(visit) {
      const caller = findSignedIn(visit, access);
      return caller && { account: String(caller.uid), key: caller.sessionKey ?? '' };
    },
  };
}

/** Authz checks them. */
export function accountPasswords(authz: Client<AuthServiceDefinition>): AccountPasswords<PageSession> {
  return {
    has: async (account) =>
      (await authz.getAccount({ uid: Number(account) }, {})).account?.hasPassword ?? false,
    async check({ request, clientAddress }, account, password) {
      const given = { uid: Number(account), password, remoteAddress: clientAddress };
      await authz.checkPassword(given, callOf(request));
    },
  };
}

/** Authz keeps them. */
function remotePeople(authz: Client<AuthServiceDefinition>, admit: Admit): PeopleStore {
  const uidOf = (account: { uid: number } | undefined) => {
    if (!account) throw new Error('authz sent no account of a person');
    return String(account.uid);
  };
  return {
    async accountOf(given) {
      admit(given);
      const { subject, name, roles } = given;
      const person = { subject, name, roles: [...roles], keepsRole: false };
      return uidOf((await authz.identifyPerson(person, {})).account);
    },
    async accountOfHolder(holder) {
      admit(holder);
      const { subject, name, roles, issuedAtMs } = holder;
      const person = { subject, name, roles: [...roles], keepsRole: true, issuedAtMs };
      return uidOf((await authz.identifyPerson(person, {})).account);
    },
    async connect(given, account) {
      admit(given);
      const { subject, name, roles } = given;
      const connectUid = Number(account);
      await authz.identifyPerson({ subject, name, roles: [...roles], keepsRole: false, connectUid }, {});
    },
    subjectOf: async (account) => (await authz.getConnection({ uid: Number(account) }, {})).subject,
    async disconnect(account) {
      await authz.disconnectPerson({ uid: Number(account) }, {});
    },
    async keepSession({ key, person, grant, expiresAtMs }) {
      const { subject, sid } = person;
      await authz.keepPersonSession({ key, subject, sid, ...grant, expiresAtMs }, {});
    },
    leave: async (key) => (await authz.endPersonSession({ key }, {})).idToken,
    async end({ subject, sid }) {
      await authz.endPersonSessions({ subject, sid }, {});
    },
    useUp: async (state) => (await authz.useSignInAttempt({ state }, {})).isFirst,
  };
}
