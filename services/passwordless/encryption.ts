import { createCipheriv, createDecipheriv } from 'node:crypto';
import { randomBytes } from '#kit/random.ts';

const algorithm = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;

/** What a body becomes once its mail needs it no more. */
export const bodyNote = '[removed: the mail was dealt with]';

/** Keeps the bodies of waiting mails unreadable to whoever has the database, its log or a backup: they hold live links. */
export class Encryption {
  readonly #keys: readonly Uint8Array[];

  /** The first key seals, each opens: so a mail survives that the secret is changed under it. 32 bytes each. */
  constructor(keys: readonly [Uint8Array, ...Uint8Array[]]) {
    this.#keys = keys;
  }

  /** The text, bound to its place (such as an entry and its column). */
  encrypt(text: string, place: string): string {
    const nonce = randomBytes(nonceBytes);
    const cipher = createCipheriv(algorithm, this.#keys[0] as Uint8Array, nonce).setAAD(Buffer.from(place));
    const encrypted = [cipher.update(text, 'utf8'), cipher.final()];
    return Buffer.concat([nonce, ...encrypted, cipher.getAuthTag()]).toString('base64url');
  }

  /** Undefined where no key opens it, or it was encrypted for another place. */
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
