import { createHash } from 'node:crypto';
import type { Clock } from '../clock.ts';
import type { Database } from '../db/index.ts';
import { AppError } from '../errors.ts';
import { newSecret } from '../ids.ts';
import {
  type AccountTables,
  anyAdministrator,
  deleteSetupLinks,
  insertSetupLink,
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
  await deleteSetupLinks.run(database, { nowMs });
  const token = newSecret();
  await insertSetupLink.run(database, { hash: hashOf(token), expiresAtMs: nowMs + lifetimeMs });
  return token;
}

/** Whether a link still works, without using it. */
export async function isSetupToken(
  database: Database<AccountTables>,
  clock: Clock,
  token: string,
): Promise<boolean> {
  if (await hasAdministrator(database)) return false;
  return (await setupLink.first(database, { hash: hashOf(token), nowMs: clock.now() })) !== undefined;
}

/** Whether somebody can sign in who has every permission. */
export async function hasAdministrator(database: Database<AccountTables>): Promise<boolean> {
  return (await anyAdministrator.first(database, {})) !== undefined;
}

/** Uses a link up in the transaction that creates the administrator. Throws `not_found` if it has ended. */
export async function takeSetupToken(
  session: Parameters<typeof useSetupLink.run>[0],
  token: string,
  nowMs: number,
): Promise<void> {
  const isTaken = (await anyAdministrator.first(session, {})) !== undefined;
  const { changes } = await useSetupLink.run(session, { hash: hashOf(token), nowMs });
  if (isTaken || changes === 0)
    throw new AppError('not_found', 'This link was used, has expired, or there is an administrator already.');
}

function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('base64url');
}
