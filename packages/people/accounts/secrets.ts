import { newSecret } from '@octavo/core';
import type { Database } from '@octavo/data';
import { type AccountTables, insertSecret, secretByName } from './store.ts';

/**
 * A secret that is not configured: 32 random bytes in base64url, made at first use and kept in the service's database under a name, so that
 * all replicas use the same one. `given`, from a setting, takes its place.
 */
export async function keptSecret(
  database: Database<AccountTables>,
  name: string,
  given?: string,
): Promise<string> {
  if (given) return given;
  const known = await secretByName(database, name);
  if (known) return known.value;
  await insertSecret(database, { name, value: newSecret() });
  return (await secretByName(database, name))?.value as string;
}
