import { createCipheriv, createDecipheriv } from 'node:crypto';
import { randomBytes } from '#kit/random.ts';

const algorithm = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;

/** Encrypts TOTP secrets and waiting mails, so that the database, its log and its backups do not reveal them. */
export class Encryption {
  readonly #keys: readonly Uint8Array[];

  /** Keys of 32 bytes. The first one encrypts, and each of them decrypts, so that a change of the secret loses nothing. */
  constructor(keys: readonly [Uint8Array, ...Uint8Array[]]) {
    this.#keys = keys;
  }

  /** AES-256-GCM. The text is bound to its place, such as a row and a column. */
  encrypt(text: string, place: string): string {
    const nonce = randomBytes(nonceBytes);
    const cipher = createCipheriv(algorithm, this.#keys[0] as Uint8Array, nonce).setAAD(Buffer.from(place));
    const encrypted = [cipher.update(text, 'utf8'), cipher.final()];
    return Buffer.concat([nonce, ...encrypted, cipher.getAuthTag()]).toString('base64url');
  }

  /** Undefined if no key decrypts it, or if it was encrypted for another place. */
  decrypt(encrypted: string, place: string): string | undefined {
    const bytes = Buffer.from(encrypted, 'base64url');
    if (bytes.length < nonceBytes + tagBytes) return undefined;
    for (const key of this.#keys) {
      try {
        return decryptWith(key, bytes, place);
      } catch {}
    }
    return undefined;
  }
}

function decryptWith(key: Uint8Array, bytes: Buffer, place: string): string {
  const decipher = createDecipheriv(algorithm, key, bytes.subarray(0, nonceBytes), {
    authTagLength: tagBytes,
  });
  decipher.setAAD(Buffer.from(place)).setAuthTag(bytes.subarray(-tagBytes));
  const text = decipher.update(bytes.subarray(nonceBytes, -tagBytes));
  return Buffer.concat([text, decipher.final()]).toString('utf8');
}
