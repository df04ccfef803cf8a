import { hkdfSync } from 'node:crypto';
import { join } from 'node:path';
import { Encryption } from '#kit/auth/encryption.ts';
import { storedSecret } from '#kit/auth/stored-secret.ts';
import type { ServiceContext } from '#kit/service.ts';

/** Encrypts the secrets of authenticator apps. Each is bound to its uid. */
export function totpEncryption(secret: string): Encryption {
  return new Encryption([new Uint8Array(hkdfSync('sha256', secret, '', 'totp', 32))]);
}

/** By the given secret; outside production by one in the data folder if none is given. In production there is none then. */
export async function openTotpEncryption(
  given: string | undefined,
  { dataFolder, environment }: ServiceContext,
): Promise<Encryption | undefined> {
  if (given !== undefined) return totpEncryption(given);
  if (environment === 'production') return undefined;
  return totpEncryption(await storedSecret(join(dataFolder, 'authz.secret')));
}
