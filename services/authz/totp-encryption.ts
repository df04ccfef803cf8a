import { createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto';
import { join } from 'node:path';
import { storedSecret } from '#kit/auth/stored-secret.ts';
import { randomBytes } from '#kit/random.ts';
import type { ServiceContext } from '#kit/service.ts';

const algorithm = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;

/** Encrypts TOTP secrets with AES-256-GCM, so that the database and its backups do not reveal them. Bound to the uid. */
export class TotpEncryption {
  readonly #key: Uint8Array;

  constructor(secret: string) {
    this.#key = new Uint8Array(hkdfSync('sha256', secret, '', 'totp', 32));
  }

  encrypt(secret: Uint8Array, uid: number): string {
    const nonce = randomBytes(nonceBytes);
    const cipher = createCipheriv(algorithm, this.#key, nonce).setAAD(Buffer.from(String(uid)));
    return Buffer.concat([nonce, cipher.update(secret), cipher.final(), cipher.getAuthTag()]).toString(
      'base64url',
    );
  }

  /** Undefined if it was encrypted with another key or for another uid. */
  decrypt(encrypted: string, uid: number): Buffer | undefined {
    const bytes = Buffer.from(encrypted, 'base64url');
    if (bytes.length < nonceBytes + tagBytes) return undefined;
    const nonce = bytes.subarray(0, nonceBytes);
    const decipher = createDecipheriv(algorithm, this.#key, nonce, { authTagLength: tagBytes });
    decipher.setAAD(Buffer.from(String(uid))).setAuthTag(bytes.subarray(-tagBytes));
    const secret = decipher.update(bytes.subarray(nonceBytes, -tagBytes));
    try {
      return Buffer.concat([secret, decipher.final()]);
    } catch {
      return undefined;
    }
  }
}

/** By the given secret; outside production by one in the data folder if none is given. In production there is none then. */
export async function openTotpEncryption(
  given: string | undefined,
  { dataFolder, environment }: ServiceContext,
): Promise<TotpEncryption | undefined> {
  if (given !== undefined) return new TotpEncryption(given);
  if (environment === 'production') return undefined;
  return new TotpEncryption(await storedSecret(join(dataFolder, 'authz.secret')));
}
