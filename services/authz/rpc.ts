import type { Handlers } from '#kit/rpc/index.ts';
import type { AuthServiceDefinition, Account as WireAccount } from '#proto/authz/v1/authz.ts';
import type { Account } from './account.ts';
import type { Accounts } from './accounts.ts';
import type { Decisions } from './decisions.ts';
import type { Logins } from './logins.ts';

export interface HandlersOptions {
  readonly accounts: Accounts;
  readonly logins: Logins;
  readonly decisions: Decisions;
}

/** Serves authz.v1. */
export function createHandlers(options: HandlersOptions): Handlers<AuthServiceDefinition> {
  const { accounts, logins, decisions } = options;
  return {
    login: async (credentials) => ({ account: toWire(await logins.login(credentials)) }),

    decide: ({ subject, resourceType, action }) =>
      decisions.decide({
        uid: subject?.uid ?? 0,
        username: subject?.username ?? '',
        mfaVerified: subject?.mfaVerified ?? false,
        resourceType,
        action,
      }),

    listAccounts: async () => ({ accounts: (await accounts.list()).map(toWire) }),

    createAccount: async (account) => ({ account: toWire(await accounts.create(account)) }),

    updateAccount: async ({ username, ...change }) => ({
      account: toWire(await accounts.update(username, change)),
    }),
  };
}

function toWire({ uid, username, role, disabled, createdAtMs }: Account): WireAccount {
  return { uid, username, role, disabled, createdAtMs };
}
