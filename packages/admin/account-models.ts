import { AppError, notFound } from '@octavo/core';
import type { Session, WriteSession } from '@octavo/data';
import {
  type Accounts,
  type AccountTables,
  administratorsLock,
  checkNames,
  permissionActions,
  usernameKey,
} from '@octavo/people/accounts';
import { capitalized } from './context.ts';
import type { Choice, Values } from './field.ts';
import { dateTime, flag, password, text } from './fields.ts';
import { type Membership, type Model, tableModel } from './model.ts';
import type { Actor, AdminUser } from './user.ts';

/**
 * The models `auth/user` and `auth/group`: accounts of `packages/people/accounts`, their groups and what these may do with the other models.
 * Only administrators give rights; others may edit ordinary accounts, if their groups allow it.
 */
export function accountModels(accounts: Accounts, models: readonly Model[]): Model[] {
  const paths = [...models.map(({ path, plural }) => ({ path, plural })), ...own];
  return [userModel(accounts), groupModel(paths)];
}

const own = [
  { path: 'auth/user', plural: 'users' },
  { path: 'auth/group', plural: 'groups' },
];

const onlyAdministrators = (user: AdminUser) => !user.isSuperuser;

function userModel(accounts: Accounts): Model {
  return tableModel<AccountTables>({
    path: 'auth/user',
    label: 'user',
    table: 'auth_user',
    title: 'username',
    fields: {
      username: text({ label: 'User name', charactersMax: 150, help: 'Letters, digits and @ . + - _ only.' }),
      password: { ...password({ label: 'Password' }), onlyWhenAdding: true },
      email: {
        ...text({ label: 'E-mail address', charactersMax: 254, isOptional: true }),
        format: (value) => String(value ?? ''),
      },
      is_active: flag({ label: 'Active', initial: 1, help: 'Uncheck to block sign-in.' }),
      is_staff: flag({ label: 'Staff', readOnly: onlyAdministrators }),
      is_superuser: flag({ label: 'Administrator', readOnly: onlyAdministrators }),
      last_sign_in: dateTime({
        label: 'Last sign-in',
        column: 'last_sign_in_at_ms',
        readOnly: true,
        isOptional: true,
      }),
      created: dateTime({ label: 'Created', column: 'created_at_ms', readOnly: true }),
    },
    sets: { groups: groupsOfUser },
    sections: [
      { title: 'Permissions', fields: ['is_active', 'is_staff', 'is_superuser', 'groups'] },
      { title: 'Dates', fields: ['last_sign_in', 'created'] },
    ],
    columns: ['username', 'email', 'is_staff', 'is_superuser', 'is_active', 'last_sign_in'],
    search: ['username', 'email'],
    filters: ['is_staff', 'is_superuser', 'is_active'],
    order: ['username'],
    dates: 'created',
    uniqueErrors: {
      username_key: { field: 'username', message: 'A user with that username already exists.' },
    },
    forms: {
      password: {
        label: 'Set password',
        recordedAs: 'Set password',
        fields: { password: password({ label: 'New password', help: 'Signs the user out everywhere.' }) },
        submit: (id, values, actor) =>
          setPassword(accounts, id, { password: String(values.password), actor }),
      },
    },
    // Hashing takes too long for a transaction.
    async prepare({ username, email, password: secret }, id) {
      if (id !== undefined) return {};
      return accounts.newRow({
        username: String(username),
        email: String(email ?? ''),
        password: String(secret),
      });
    },
    async beforeSave(session, { id, before, after }, actor) {
      checkRights(actor, { before, after, id });
      if (before && isLosingRights(before, after)) await demandOther(session, [id as string]);
      const names = checkNames({ username: String(after.username), email: String(after.email ?? '') });
      return { ...names, email: names.email ?? null, username_key: usernameKey(names.username) };
    },
    async beforeDelete(session, ids, actor) {
      if (ids.includes(actor.user.id)) throw new AppError('conflict', 'You cannot delete your own account.');
      if (!actor.user.isSuperuser) await refuseStaff(session, ids);
      await demandOther(session, ids);
      await accounts.forgetPeople(session, ids);
    },
  });
}

async function refuseStaff(session: WriteSession<AccountTables>, ids: readonly string[]): Promise<void> {
  const staff = await session.kysely
    .selectFrom('auth_user')
    .select('id')
    .where('id', 'in', ids.map(Number))
    .where((eb) => eb.or([eb('is_staff', '=', 1), eb('is_superuser', '=', 1)]))
    .limit(1)
    .execute();
  if (staff.length > 0) throw new AppError('forbidden', 'Only administrators delete the accounts of staff.');
}

async function setPassword(
  accounts: Accounts,
  id: string,
  { password: secret, actor }: { password: string; actor: Actor },
): Promise<string> {
  const user = await accounts.byId(Number(id));
  if (!user) throw notFound('user', id);
  if (!actor.user.isSuperuser && (user.isStaff || user.isSuperuser))
    throw new AppError('forbidden', 'Only administrators change the accounts of staff.');
  await accounts.setPassword(user, secret);
  return `${user.username} has a new password.`;
}

function checkRights(
  { user }: Actor,
  { before, after, id }: { before: Values | undefined; after: Values; id: string | undefined },
): void {
  if (!user.isSuperuser && (before?.is_superuser === 1 || before?.is_staff === 1) && id !== user.id)
    throw new AppError('forbidden', 'Only administrators change the accounts of staff.');
  if (id === user.id && isLosingRights(before ?? {}, after)) {
    const name = after.is_active === 0 ? 'is_active' : after.is_staff === 0 ? 'is_staff' : 'is_superuser';
    throw new AppError('validation_failed', 'You cannot take your own rights away.', {
      fields: { [name]: 'You cannot take your own rights away.' },
    });
  }
}

function isLosingRights(before: Values, after: Values): boolean {
  return ['is_active', 'is_staff', 'is_superuser'].some((name) => before[name] === 1 && after[name] === 0);
}

/** Throws unless there is an administrator besides these users. */
async function demandOther(session: WriteSession<AccountTables>, ids: readonly string[]): Promise<void> {
  await session.lock(administratorsLock);
  const others = await session.kysely
    .selectFrom('auth_user')
    .select('id')
    .where('is_superuser', '=', 1)
    .where('is_staff', '=', 1)
    .where('is_active', '=', 1)
    .where('id', 'not in', ids.map(Number))
    .limit(1)
    .execute();
  if (others.length === 0) throw new AppError('conflict', 'There must be an administrator who can sign in.');
}

const groupsOfUser: Membership<AccountTables> = {
  label: 'Groups',
  readOnly: onlyAdministrators,
  async choices(session) {
    const groups = await session.kysely.selectFrom('auth_group').selectAll().orderBy('name').execute();
    return groups.map(({ id, name }) => [String(id), name] as const);
  },
  async load(session, id) {
    const rows = await session.kysely
      .selectFrom('auth_membership')
      .select('group_id')
      .where('user_id', '=', Number(id))
      .execute();
    return rows.map(({ group_id }) => String(group_id));
  },
  async save(session, id, members) {
    await session.kysely.deleteFrom('auth_membership').where('user_id', '=', Number(id)).execute();
    const rows = members.map((group) => ({ user_id: Number(id), group_id: Number(group) }));
    if (rows.length > 0) await session.kysely.insertInto('auth_membership').values(rows).execute();
  },
};

function groupModel(models: readonly { path: string; plural: string }[]): Model {
  return tableModel<AccountTables>({
    path: 'auth/group',
    label: 'group',
    table: 'auth_group',
    title: 'name',
    description: 'A group gives its members permissions.',
    fields: { name: text({ label: 'Name', charactersMax: 150 }) },
    sets: { permissions: permissionsOfGroup(models) },
    columns: ['name'],
    search: ['name'],
    order: ['name'],
    async beforeSave(_session, _saved, { user }) {
      if (!user.isSuperuser) throw new AppError('forbidden', 'Only administrators change groups.');
      return undefined;
    },
    async beforeDelete(_session, _ids, { user }) {
      if (!user.isSuperuser) throw new AppError('forbidden', 'Only administrators delete groups.');
    },
  });
}

function permissionsOfGroup(models: readonly { path: string; plural: string }[]): Membership<AccountTables> {
  const choices: Choice[] = models.flatMap(({ path, plural }) =>
    permissionActions.map((action) => [`${path}:${action}`, `${action} ${plural}`] as const),
  );
  const known = new Set(choices.map(([value]) => value));
  return {
    label: 'Permissions',
    help: 'Permission to change or delete includes permission to view.',
    readOnly: onlyAdministrators,
    choices: async () => choices,
    grid: {
      rows: models.map(({ path, plural }) => [path, capitalized(plural)] as const),
      columns: permissionActions.map((action) => [action, capitalized(action)] as const),
    },
    load: (session, id) => loadPermissions(session, Number(id)),
    async save(session, id, members) {
      const rows = members
        .filter((member) => known.has(member))
        .map((member) => {
          const [model = '', action = ''] = member.split(':');
          return { group_id: Number(id), model, action };
        });
      await session.kysely.deleteFrom('auth_group_permission').where('group_id', '=', Number(id)).execute();
      if (rows.length > 0) await session.kysely.insertInto('auth_group_permission').values(rows).execute();
    },
  };
}

async function loadPermissions(session: Session<AccountTables>, groupId: number): Promise<string[]> {
  const rows = await session.kysely
    .selectFrom('auth_group_permission')
    .select(['model', 'action'])
    .where('group_id', '=', groupId)
    .execute();
  return rows.map(({ model, action }) => `${model}:${action}`);
}
