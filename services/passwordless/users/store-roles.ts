import type { Clock } from '@octavo/core';
import { AppError } from '@octavo/core';
import { normalizeEmail } from '@octavo/core/auth';
import type { Database } from '@octavo/data';
import type { Tables } from '../store/store.ts';
import { usersOf } from './store.ts';

/** A role of a user: for one application, or for all. */
export interface Role {
  readonly role: string;
  /** The id of the application; undefined for all. */
  readonly service: string | undefined;
}

interface Place {
  readonly database: Database<Tables>;
  readonly clock: Clock;
}

const rolePattern = /^[a-z][a-z0-9_-]{0,39}$/;
const everyService = '';

/** Gives a role to the owner of an address. Twice is once. Throws `not_found` or `validation_failed`. */
export async function grantRole({ database, clock }: Place, email: string, role: Role): Promise<void> {
  const userId = await ownerOf(database, email);
  await addRole({ database, clock }, userId, role);
}

export async function addRole({ database, clock }: Place, userId: string, role: Role): Promise<void> {
  const row = {
    user_id: userId,
    client_id: serviceOf(role),
    role: checked(role.role),
    created_at_ms: clock.now(),
  };
  await database.write(({ kysely }) =>
    kysely
      .insertInto('user_role')
      .values(row)
      .onConflict((conflict) => conflict.columns(['user_id', 'client_id', 'role']).doNothing())
      .execute(),
  );
}

/** Takes a role away. It ends when the access token does, within ten minutes. Throws `not_found`. */
export async function revokeRole(database: Database<Tables>, email: string, role: Role): Promise<void> {
  const userId = await ownerOf(database, email);
  if (!(await removeRole(database, userId, role))) {
    throw new AppError('not_found', `${email} does not have the role ${role.role} there.`);
  }
}

/** Returns true if the user had the role. */
export async function removeRole(database: Database<Tables>, userId: string, role: Role): Promise<boolean> {
  const { numDeletedRows } = await database.write(({ kysely }) =>
    kysely
      .deleteFrom('user_role')
      .where('user_id', '=', userId)
      .where('client_id', '=', serviceOf(role))
      .where('role', '=', role.role)
      .executeTakeFirstOrThrow(),
  );
  return numDeletedRows > 0n;
}

/** The names of the roles that a user has in an application: those for it, and those for all. */
export async function rolesFor(
  { kysely }: Pick<Database<Tables>, 'kysely'>,
  userId: string,
  clientId: string | undefined,
): Promise<string[]> {
  const rows = await kysely
    .selectFrom('user_role')
    .select('role')
    .distinct()
    .where('user_id', '=', userId)
    .where('client_id', 'in', [everyService, ...(clientId === undefined ? [] : [clientId])])
    .orderBy('role')
    .execute();
  return rows.map(({ role }) => role);
}

/** All roles, by address; at most 10,000. */
export async function listRoles(
  { kysely }: Pick<Database<Tables>, 'kysely'>,
  of: { readonly email?: string | undefined; readonly userId?: string } = {},
): Promise<(Role & { readonly userId: string; readonly email: string })[]> {
  let query = kysely
    .selectFrom('user_role')
    .innerJoin('user', 'user.id', 'user_role.user_id')
    .select(['user_role.user_id', 'user_role.client_id', 'user_role.role', 'user.email']);
  if (of.userId !== undefined) query = query.where('user_role.user_id', '=', of.userId);
  if (of.email !== undefined) query = query.where('user.email', '=', normalizeEmail(of.email) ?? '');
  const order = ['user.email', 'user_role.client_id', 'user_role.role'] as const;
  const rows = await query.orderBy(order[0]).orderBy(order[1]).orderBy(order[2]).limit(10_000).execute();
  return rows.map((row) => ({
    userId: row.user_id,
    email: row.email,
    role: row.role,
    service: row.client_id === everyService ? undefined : row.client_id,
  }));
}

async function ownerOf(database: Database<Tables>, given: string): Promise<string> {
  const email = normalizeEmail(given);
  const [owner] = email === undefined ? [] : await usersOf(database, email);
  // Anybody could have chosen an address that is not verified.
  if (!owner?.isVerified)
    throw new AppError('not_found', `The address ${given} has no owner. They must sign in first.`);
  return owner.id;
}

function serviceOf({ service }: Role): string {
  return service === undefined ? everyService : serviceIdOf(service);
}

function checked(role: string): string {
  if (rolePattern.test(role)) return role;
  const problem = 'must be at most 40 lower-case letters, digits, - and _, and begin with a letter';
  throw new AppError('validation_failed', `The role ${problem}.`, { fields: { role: problem } });
}

/** The id of an application of this name: `My App` is `my-app`. */
export function serviceIdOf(name: string): string {
  const plain = name.normalize('NFKD').toLowerCase();
  return plain.replace(/[^a-z0-9]+/g, '-').replace(/^-+|-+$/g, '');
}
