import { AppError } from '#kit/base/errors.ts';
import { newId } from '#kit/base/ids.ts';
import type { Client } from '#kit/rpc/index.ts';
import type { PeopleStore, SignInRealm } from '#kit/sign-in/index.ts';
import type { AuthServiceDefinition } from '#proto/authz/v1/authz.ts';
import { pageRoutes } from '../routes.ts';
import { type Access, tokenLifetimeSeconds } from './access.ts';
import { findSignedIn, type PageSession } from './visitors.ts';

/** The accounts of authz for the sign-in with an OpenID provider. A session is a token with the key of its own. */
export function accountRealm(
  authz: Client<AuthServiceDefinition>,
  access: Access,
  nowMs: () => number,
): SignInRealm<PageSession> {
  return {
    people: remotePeople(authz),
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

/** Authz keeps them. */
function remotePeople(authz: Client<AuthServiceDefinition>): PeopleStore {
  const uidOf = (account: { uid: number } | undefined) => {
    if (!account) throw new Error('authz sent no account of a person');
    return String(account.uid);
  };
  return {
    async accountOf({ subject, name, roles }) {
      const person = { subject, name, roles: [...roles], keepsRole: false };
      return uidOf((await authz.identifyPerson(person, {})).account);
    },
    async accountOfHolder({ subject, name, roles, issuedAtMs }) {
      const person = { subject, name, roles: [...roles], keepsRole: true, issuedAtMs };
      return uidOf((await authz.identifyPerson(person, {})).account);
    },
    async connect({ subject, name, roles }, account) {
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
