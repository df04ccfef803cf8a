import { createHash } from 'node:crypto';
import type { Clock } from '@octavo/core';
import { AppError, newSecret } from '@octavo/core';
import type { Database } from '@octavo/data';
import {
  type AccountTables,
  anyAdministrator,
  deleteSetupLinks,
  insertSetupLink,
  type Store,
  setupLink,
  useSetupLink,
} from './store.ts';

const lifetimeMs = 60 * 60_000;

/**
 * The token of a link that creates the first administrator. It ends when it is used, after an hour, or when there is an
 * administrator. Undefined if there is one already.
 */
export async function createSetupToken(
  database: Database<AccountTables>,
  clock: Clock,
): Promise<string | undefined> {
  if (await hasAdministrator(database)) return undefined;
  const nowMs = clock.now();
  await deleteSetupLinks(database, nowMs);
  const token = newSecret();
  await insertSetupLink(database, hashOf(token), nowMs + lifetimeMs);
  return token;
}

/** Returns true if a link works, without using it. */
export async function isSetupToken(
  database: Database<AccountTables>,
  clock: Clock,
  token: string,
): Promise<boolean> {
  if (await hasAdministrator(database)) return false;
  return (await setupLink(database, hashOf(token), clock.now())) !== undefined;
}

/** Returns true if a user with every permission can sign in. */
export async function hasAdministrator(database: Database<AccountTables>): Promise<boolean> {
  return (await anyAdministrator(database)) !== undefined;
}

/** Uses a link up in the transaction that creates the administrator. Throws `not_found` if it has ended. */
export async function takeSetupToken(session: Store, token: string, nowMs: number): Promise<void> {
  const isTaken = (await anyAdministrator(session)) !== undefined;
  const { numDeletedRows } = await useSetupLink(session, hashOf(token), nowMs);
  if (isTaken || numDeletedRows === 0n)
    throw new AppError('not_found', 'This link was used, has expired, or there is an administrator already.');
}

/**
 * The address at which the first administrator is created, for `setupLink` of a started service: an hour, once. Undefined where there
 * is an administrator, and in production unless `inProduction`, the setting `ADMIN_SETUP_LINK`.
 */
export async function setupAddress(
  accounts: { readonly isWithoutPasswords: boolean; createSetupToken(): Promise<string | undefined> },
  options: { url: string; context: { readonly environment: string }; inProduction: boolean },
): Promise<string | undefined> {
  const { url, context, inProduction } = options;
  if (accounts.isWithoutPasswords) return undefined;
  if (context.environment === 'production' && !inProduction) return undefined;
  const token = await accounts.createSetupToken();
  return token && `${url}${setupPath}?token=${token}`;
}

/** Path on which the admin creates the first administrator. */
export const setupPath = '/admin/setup/';

function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('base64url');
}
