import type { Clock } from '@octavo/core';
import { AppError, randomBytes } from '@octavo/core';
import type { Passwords } from '@octavo/core/passwords';
import type { Database, WriteSession } from '@octavo/data';
import { type AccountHost, endSessionsOf, Identities } from '@octavo/people/sign-in';
import { type Role, roleAmong } from '@octavo/protocols/authz/v1/permissions';
import { findByUid, findByUsername, insertAccount, mayGo, type Tables, updateAccount } from '../store.ts';
import { isUsername, lastAdministrator } from './account.ts';

export interface PeopleOptions {
  readonly database: Database<Tables>;
  readonly passwords: Pick<Passwords, 'unknowable'>;
  readonly clock: Clock;
  /** Encrypts the tokens of sessions. */
  readonly secret: string;
  readonly issuer: string;
  /** True if demo accounts may be used. */
  readonly demo: boolean;
  /** True if access needs a role. */
  readonly needsRole: boolean;
}

const numbersMax = 50;
const nameCharactersMax = 100;
/** The only kind of accounts. */
const realm = '';

/** People of an OpenID provider, by their accounts here. */
export function createPeople(options: PeopleOptions): Identities<Tables> {
  return new Identities({ ...options, host: accountHost(options) });
}

/** The error of a call about people where the service knows no provider. */
export function noProvider(): AppError {
  return new AppError('precondition_failed', 'The service has no OIDC_ISSUER.', { reason: 'NO_PROVIDER' });
}

/** The highest role here that the provider names; `viewer` without one. */
export function roleOf(roles: readonly string[]): Role {
  return roleAmong(roles) ?? 'viewer';
}

/** Sessions are tokens of the gateway: those of a session that has ended are stale, so there is nothing to end. */
export function accountHost({
  passwords,
  clock,
  demo,
  needsRole,
}: Pick<PeopleOptions, 'passwords' | 'clock' | 'demo' | 'needsRole'>): AccountHost<Tables> {
  return {
    has: async (session, account) => (await findByUid(session, Number(account))) !== undefined,
    async create(session, { name, roles }) {
      const username = await freeName(session, name);
      const created = await insertAccount(session, {
        username,
        role: roleOf(roles),
        passwordHash: passwords.unknowable(),
        createdAtMs: clock.now(),
      });
      if (!created) throw new AppError('conflict', 'This name was taken at the same time.');
      return String(created.uid);
    },
    async setRoles(session, account, roles) {
      await updateAccount(session, Number(account), { role: roleOf(roles) });
      if (needsRole && !roleAmong(roles)) await endSessionsOf(session, realm, [account]);
    },
    async demandOther(session, account) {
      if (!(await mayGo(session, { uid: Number(account), withDemo: demo }))) throw lastAdministrator();
    },
    async end() {},
  };
}

/** The name if it is free, else with a number behind it. */
async function freeName(session: WriteSession<Tables>, given: string): Promise<string> {
  const name = validName(given);
  for (let number = 1; number <= numbersMax; number++) {
    const username = number === 1 ? name : `${name}${number}`;
    if (!(await findByUsername(session, username))) return username;
  }
  return `${name}-${randomBytes(6).toString('hex')}`;
}

function validName(given: string): string {
  const plain = given.normalize('NFKD').replace(/\p{M}/gu, '');
  const name = plain
    .replace(/[^A-Za-z0-9._@+-]+/g, '-')
    .replace(/^[^A-Za-z0-9]+|-+$/g, '')
    .slice(0, nameCharactersMax);
  return isUsername(name) ? name : 'user';
}
