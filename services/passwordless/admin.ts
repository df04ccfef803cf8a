import {
  type Actor,
  type Admin,
  type AdminAccounts,
  accountModels,
  createAdmin,
  dateTime,
  flag,
  functionModel,
  integer,
  type Model,
  staffAccounts,
  staffCookie,
  text,
} from '@octavo/admin';
import type { Clock } from '@octavo/core';
import { AppError, notFound } from '@octavo/core';
import type { Database } from '@octavo/data';
import { allPermissions, type Accounts as StaffAccounts } from '@octavo/people/accounts';
import { html } from '@octavo/web/html';
import type { Visit } from '@octavo/web/pages';
import type { Accounts } from './account/index.ts';
import { clientModel, roleModel } from './oidc/admin.ts';
import type { SuiteName } from './oidc/index.ts';
import { pageRoutes } from './routes.ts';
import type { Caller, Sessions, TokenPair } from './sessions/index.ts';
import type { Tables } from './store/store.ts';
import { findUser, listUsers, rolesFor, type User } from './users/index.ts';

export interface PasswordlessAdminParts {
  readonly staff: StaffAccounts;
  readonly accounts: Accounts;
  readonly sessions: Sessions;
  /** The user who is signed in on the pages. */
  callerOf(visit: Visit<TokenPair>): Promise<Caller | undefined>;
  readonly database: Database<Tables>;
  readonly clock: Clock;
  /** Services of the suite, whose names may stand for their applications. */
  suite(): readonly SuiteName[];
  /** Encrypts the cookie of staff, which is not that of the users who sign in on the pages. */
  readonly secret: string;
  /** The site is known to be HTTPS. */
  readonly isSecure: boolean;
}

const staffSessionSeconds = 14 * 86_400;

/** The admin at `/admin/`: users, applications and roles, for staff with a password and for users with the role `admin`. */
export function createPasswordlessAdmin(parts: PasswordlessAdminParts): Admin<TokenPair> {
  const { staff, database, clock, secret, isSecure } = parts;
  const models = [userModel(parts), clientModel(parts), roleModel(parts)];
  const maxAgeSeconds = staffSessionSeconds;
  const cookie = { name: 'passwordless_staff', secret, clock, maxAgeSeconds, isSecure };
  return createAdmin({
    title: 'Sign-in admin',
    models: [...models, ...accountModels(staff, models)],
    accounts: withAdministrators(staffAccounts(staff, staffCookie<TokenPair>(cookie)), parts),
    database,
    clock,
  });
}

/** True for a user with the role `admin` in all services, who has proved the address. */
export async function isAdministrator(database: Database<Tables>, user: User): Promise<boolean> {
  return user.isVerified && (await rolesFor(database, user.id, undefined)).includes('admin');
}

/** Adds the users of the pages who have the role `admin` in all services, while they are signed in. */
function withAdministrators(
  staff: AdminAccounts<TokenPair>,
  { callerOf, sessions, database }: PasswordlessAdminParts,
): AdminAccounts<TokenPair> {
  return {
    ...staff,
    otherSignIn: html`<p><a class="button primary wide" href="${pageRoutes.home}">Sign in without a password</a></p>
<p class="muted small">For users with the role admin. Or with an account of this admin:</p>`,
    async userOf(visit) {
      const user = await staff.userOf(visit);
      const caller = user ? undefined : await callerOf(visit);
      if (!caller) return user;
      if (!(await isAdministrator(database, caller.user))) return undefined;
      const { id, email } = caller.user;
      return { id, name: email, detail: 'Administrator', isSuperuser: true, permissions: allPermissions };
    },
    async strangerOf(visit) {
      return (await staff.strangerOf?.(visit)) ?? (await callerOf(visit))?.user.email;
    },
    async signOut(visit) {
      if (!(await staff.userOf(visit)) && visit.who) {
        await sessions.revoke(visit.who.refresh_token);
        visit.signOut();
      }
      return staff.signOut(visit);
    },
    async changePassword(visit, user, given) {
      if (isId(user.id))
        throw new AppError('conflict', 'You sign in without a password, so there is none to change.');
      await staff.changePassword?.(visit, user, given);
    },
  };
}

function userModel({ accounts, sessions, database }: PasswordlessAdminParts): Model {
  const find = (id: string) => (isId(id) ? findUser(database, id) : Promise.resolve(undefined));
  const demand = async (id: string) => {
    const user = await find(id);
    if (!user) throw notFound('user', id);
    return user;
  };
  return functionModel({
    path: 'sign_in/user',
    icon: 'users',
    label: 'user',
    title: 'email',
    description: 'People who sign in by link, code or passkey. They manage their own sign-in methods.',
    fields: {
      email: text({
        label: 'E-mail address',
        charactersMax: 254,
        help: 'Anyone who can read mail at this address can sign in as this user. No e-mail is sent now.',
      }),
      verified: flag({ label: 'Address verified', readOnly: true }),
      totp: flag({ label: 'Authenticator app', readOnly: true }),
      passkeys: integer({ label: 'Passkeys', readOnly: true }),
      recoveryCodes: integer({ label: 'Recovery codes', readOnly: true }),
      sessions: integer({ label: 'Sessions', readOnly: true }),
      created: dateTime({ label: 'Created', readOnly: true }),
      lastSignIn: dateTime({ label: 'Last sign-in', readOnly: true }),
    },
    sections: [
      {
        title: 'Sign-in methods',
        fields: ['verified', 'totp', 'passkeys', 'recoveryCodes', 'sessions'],
      },
      { title: 'Dates', fields: ['created', 'lastSignIn'] },
    ],
    columns: ['email', 'verified', 'lastSignIn', 'created'],
    search: ['email'],
    filters: ['verified', 'lastSignIn', 'created'],
    dates: 'created',
    sortable: ['email', 'verified', 'lastSignIn', 'created'],
    order: ['-created'],
    async list(query) {
      const { users, ...page } = await listUsers(database, query);
      return { rows: users.map(listedValues), ...page };
    },
    async get(id) {
      const user = await find(id);
      if (!user) return undefined;
      const [factors, open] = await Promise.all([accounts.factors({ user }), sessions.of({ user })]);
      return { ...listedValues(user), ...factors, totp: Number(factors.totp), sessions: open.length };
    },
    create: async ({ email }) => (await accounts.add(String(email))).id,
    async delete(id, actor) {
      await accounts.removeUser(await demand(id), byStaff(actor));
    },
    actions: {
      endSessions: {
        label: 'End all sessions',
        confirms: true,
        async run(id, actor) {
          await sessions.revokeAll({ user: await demand(id) }, byStaff(actor));
        },
      },
    },
  });

  function listedValues({ id, email, isVerified, createdMs: created, lastSignInMs: lastSignIn }: User) {
    return { id, email, verified: Number(isVerified), created, lastSignIn };
  }
}

/** Mails to the user are in the language of the service, not of the staff. */
function byStaff({ visitor }: Actor) {
  return { visitor, locale: undefined };
}

/** True for ids as they are made; others would only reach the database. */
function isId(text: string): boolean {
  return /^[\w-]{1,64}$/.test(text);
}
