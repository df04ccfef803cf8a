import type { Clock } from '@octavo/core';
import { randomBytes } from '@octavo/core';
import { normalizeEmail } from '@octavo/core/auth';
import type { Passwords } from '@octavo/core/passwords';
import type { WriteSession } from '@octavo/data';
import type { AccountHost, OidcTables } from '../sign-in/index.ts';
import type { Sessions } from './sessions.ts';
import { type AccountTables, insertUser, mayLoseRights, setRights, userById, userByKey } from './store.ts';
import { lastAdministrator, usernameCharactersMax, usernameKey } from './user.ts';

const numbersMax = 50;

/** People of an OpenID provider as users: the role `admin` makes administrators, and all others ordinary users. */
export function accountHost(parts: {
  clock: Clock;
  passwords: Passwords;
  sessions: Sessions;
}): AccountHost<AccountTables & OidcTables> {
  const { clock, passwords, sessions } = parts;
  return {
    has: async (session, account) => (await userById(session, Number(account))) !== undefined,
    async create(session, { name, email, roles }) {
      const username = await freeName(session, name);
      const nowMs = clock.now();
      const rights = rightsOf(roles);
      const row = await insertUser(session, {
        username,
        username_key: usernameKey(username),
        email: (email && normalizeEmail(email)) ?? null,
        password_hash: passwords.unknowable(),
        is_active: 1,
        ...rights,
        created_at_ms: nowMs,
        password_changed_at_ms: nowMs,
      });
      return String(row.id);
    },
    async setRoles(session, account, roles) {
      await setRights(session, Number(account), rightsOf(roles));
    },
    async demandOther(session, account) {
      if (!(await mayLoseRights(session, Number(account)))) throw lastAdministrator();
    },
    end: (keys) => sessions.endByKeys(keys),
  };
}

/** The flags of a user with these roles. */
export function rightsOf(roles: readonly string[]) {
  const isAdministrator = Number(roles.includes('admin'));
  return { is_staff: isAdministrator, is_superuser: isAdministrator };
}

/** The name if it is free, else with a number behind it. */
async function freeName(session: WriteSession<AccountTables & OidcTables>, given: string): Promise<string> {
  const name = validName(given);
  for (let number = 1; number <= numbersMax; number++) {
    const username = number === 1 ? name : `${name}${number}`;
    if (!(await userByKey(session, usernameKey(username)))) return username;
  }
  return `${name}-${randomBytes(6).toString('hex')}`;
}

/** Replaces characters that a user name cannot have by hyphens. */
function validName(given: string): string {
  const name = given
    .toWellFormed()
    .normalize('NFKC')
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
    .replace(/[^\p{L}\p{M}\p{N}_.@+-]+/gu, '-')
    .replace(/^-+|-+$/g, '');
  // Room for a number.
  return [...name].slice(0, usernameCharactersMax - 20).join('') || 'user';
}
