import type { Clock } from '@octavo/core';
import { AppError } from '@octavo/core';
import type { Database } from '@octavo/data';
import type { Tables } from '../store/store.ts';
import { grantRole, type Role, serviceIdOf } from '../users/index.ts';
import { listClients } from './store-clients.ts';

/** A service of the suite: its name in commands, and its name for people, under which it is an application. */
export interface SuiteName {
  readonly name: string;
  readonly title: string;
}

/** The place of a grant: the database, and the services whose names it takes. */
export interface RoleScope {
  readonly database: Database<Tables>;
  readonly clock: Clock;
  readonly suite: readonly SuiteName[];
}

/** Roles that the services of the suite know. */
const suiteRoles = ['admin', 'editor', 'viewer'];

/** The application that a name stands for: `gateway` is that of Posts. */
export function serviceOf(name: string, suite: readonly SuiteName[]): string {
  const id = serviceIdOf(name);
  const known = suite.find((service) => service.name === id);
  return known ? serviceIdOf(known.title) : id;
}

/** Gives a role to the owner of an address, where it means something. Throws `validation_failed` with what is known, or `not_found`. */
export async function grantKnownRole(
  { database, clock, suite }: RoleScope,
  email: string,
  { role, service }: Role,
): Promise<void> {
  const ofSuite = suite.map(({ title }) => serviceIdOf(title));
  const id = service === undefined ? undefined : serviceOf(service, suite);
  if (id !== undefined && !ofSuite.includes(id)) {
    const others = (await listClients(database)).map((client) => client.id);
    if (!others.includes(id)) {
      const known = [...new Set([...ofSuite, ...others])].toSorted();
      throw unknown('service', `${service} is not an application`, `must be one of ${known.join(', ')}`);
    }
  } else if (!suiteRoles.includes(role)) {
    throw unknown('role', `${role} is not a role of the suite`, `must be one of ${suiteRoles.join(', ')}`);
  }
  await grantRole({ database, clock }, email, { role, service: id });
}

function unknown(field: string, problem: string, rule: string): AppError {
  return new AppError('validation_failed', `${problem}: it ${rule}.`, { fields: { [field]: rule } });
}
