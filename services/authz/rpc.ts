import { notFound, productVersion } from '@octavo/core';
import type { DatabaseHealth } from '@octavo/data';
import type { Identities } from '@octavo/people/sign-in';
import type { AuthServiceDefinition, Account as WireAccount } from '@octavo/protocols/authz/v1/authz';
import type { Handlers } from '@octavo/rpc';
import type { Account } from './accounts/account.ts';
import type { Accounts } from './accounts/accounts.ts';
import type { Logins } from './accounts/logins.ts';
import type { OwnPassword } from './accounts/own-password.ts';
import { noProvider } from './accounts/people.ts';
import type { Decisions } from './decisions/decisions.ts';
import type { Tables } from './store.ts';
import type { Totp } from './totp/totp.ts';

export interface HandlersOptions {
  readonly accounts: Accounts;
  readonly logins: Logins;
  readonly decisions: Decisions;
  readonly ownPassword: OwnPassword;
  readonly totp: Totp;
  /** People of the OpenID provider; undefined without one. */
  readonly people: Identities<Tables> | undefined;
  /** The engine of the database and its version. */
  engine(): Promise<string>;
  readonly health: DatabaseHealth<Tables>;
}

/** Serves authz.v1. */
export function createHandlers(options: HandlersOptions): Handlers<AuthServiceDefinition> {
  const { accounts, logins, decisions, ownPassword, totp, health } = options;
  return {
    login: async (credentials) => ({ account: toWire(await logins.login(credentials)) }),

    decide: ({ subject, resourceType, action }) =>
      decisions.decide({
        uid: subject?.uid ?? 0,
        username: subject?.username ?? '',
        mfaVerified: subject?.mfaVerified ?? false,
        issuedAt: subject?.issuedAt,
        passwordChangedAtMs: subject?.passwordChangedAtMs,
        sessionKey: subject?.sessionKey,
        providerRole: subject?.providerRole,
        resourceType,
        action,
      }),

    listAccounts: async ({ page = 1, pageSize = 100, search = '' }) => {
      const { accounts: found, total } = await accounts.page({ page, pageSize, search });
      return { accounts: found.map(toWire), total };
    },

    getAccount: async ({ uid }) => {
      const account = await accounts.byUid(uid);
      if (!account) throw notFound('account', uid);
      return { account: toWire(account) };
    },

    getUsernames: async ({ uids }) => ({ usernames: await accounts.usernames(uids) }),

    createAccount: async (account) => ({ account: toWire(await accounts.create(account)) }),

    updateAccount: async ({ username, ...change }) => ({
      account: toWire(await accounts.update(username, change)),
    }),

    deleteAccount: async ({ uid }) => {
      await accounts.erase(uid);
      return {};
    },

    checkPassword: async (given) => {
      await ownPassword.confirm(given);
      return {};
    },
    changePassword: async (change) => ({ account: toWire(await ownPassword.change(change)) }),

    enrollTotp: (given) => totp.enroll(given),
    confirmTotp: async (check) => ({ account: toWire(await totp.confirm(check)) }),
    verifyTotp: async (check) => {
      await totp.verify(check);
      return {};
    },
    disableTotp: async (check) => ({ account: toWire(await totp.disable(check)) }),
    resetTotp: async ({ username }) => ({ account: toWire(await totp.reset(username)) }),

    ...peopleHandlers(options),

    ping: async () => {
      await health.run();
      return {};
    },
    getInfo: async () => ({ version: productVersion(), database: await options.engine() }),
  };
}

type PeopleHandlers = Pick<
  Handlers<AuthServiceDefinition>,
  | 'identifyPerson'
  | 'getConnection'
  | 'disconnectPerson'
  | 'keepPersonSession'
  | 'endPersonSession'
  | 'endPersonSessions'
  | 'useSignInAttempt'
>;

function peopleHandlers(options: HandlersOptions): PeopleHandlers {
  const { accounts } = options;
  return {
    identifyPerson: async ({ subject, name, roles, keepsRole, connectUid, issuedAtMs }) => {
      const store = peopleOf(options);
      const person = { ...nobody, issuer: store.options.issuer, subject, name, roles };
      if (connectUid !== undefined) await store.connect(person, String(connectUid));
      const uid = keepsRole
        ? await store.accountOfHolder({ ...person, issuedAtMs: issuedAtMs ?? Number.POSITIVE_INFINITY })
        : await store.accountOf(person);
      const account = await accounts.byUid(Number(uid));
      if (!account) throw notFound('account', uid);
      return { account: toWire(account) };
    },
    getConnection: async ({ uid }) => {
      const subject = await peopleOf(options).subjectOf(String(uid));
      return { isConnected: subject !== undefined, subject };
    },
    disconnectPerson: async ({ uid }) => {
      await peopleOf(options).disconnect(String(uid));
      return {};
    },
    keepPersonSession: async ({ key, subject, sid, idToken, refreshToken, expiresAtMs }) => {
      const store = peopleOf(options);
      const person = { issuer: store.options.issuer, subject, sid };
      await store.keepSession({ key, person, grant: { idToken, refreshToken }, expiresAtMs });
      return {};
    },
    endPersonSession: async ({ key }) => ({ idToken: await peopleOf(options).leave(key) }),
    endPersonSessions: async ({ subject, sid }) => {
      await peopleOf(options).end({ subject, sid });
      return {};
    },
    useSignInAttempt: async ({ state }) => ({ isFirst: await peopleOf(options).useUp(state) }),
  };
}

const nobody = { email: undefined, sid: undefined, amr: [] };

function peopleOf({ people }: HandlersOptions): Identities<Tables> {
  if (!people) throw noProvider();
  return people;
}

function toWire(account: Account): WireAccount {
  const { uid, username, role, disabled, createdAtMs, totpEnabled, passwordChangedAtMs, hasPassword } =
    account;
  return { uid, username, role, disabled, createdAtMs, totpEnabled, passwordChangedAtMs, hasPassword };
}
