import type { DatabaseHealth } from '#kit/db/index.ts';
import { notFound } from '#kit/errors.ts';
import type { Handlers } from '#kit/rpc/index.ts';
import { productVersion } from '#kit/version.ts';
import type { AuthServiceDefinition, Account as WireAccount } from '#proto/authz/v1/authz.ts';
import type { Account } from './account.ts';
import type { Accounts } from './accounts.ts';
import type { Decisions } from './decisions.ts';
import type { Logins } from './logins.ts';
import type { OwnPassword } from './own-password.ts';
import type { Tables } from './store.ts';
import type { Totp } from './totp.ts';

export interface HandlersOptions {
  readonly accounts: Accounts;
  readonly logins: Logins;
  readonly decisions: Decisions;
  readonly ownPassword: OwnPassword;
  readonly totp: Totp;
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

    changePassword: async (change) => ({ account: toWire(await ownPassword.change(change)) }),

    enrollTotp: (given) => totp.enroll(given),
    confirmTotp: async (check) => ({ account: toWire(await totp.confirm(check)) }),
    verifyTotp: async (check) => {
      await totp.verify(check);
      return {};
    },
    disableTotp: async (check) => ({ account: toWire(await totp.disable(check)) }),
    resetTotp: async ({ username }) => ({ account: toWire(await totp.reset(username)) }),

    ping: async () => {
      await health.run();
      return {};
    },
    getInfo: async () => ({ version: productVersion(), database: await options.engine() }),
  };
}

function toWire(account: Account): WireAccount {
  const { uid, username, role, disabled, createdAtMs, totpEnabled, passwordChangedAtMs } = account;
  return { uid, username, role, disabled, createdAtMs, totpEnabled, passwordChangedAtMs };
}
