import { hkdfSync } from 'node:crypto';

/** What a key is for: none serves two purposes. */
export type KeyUse = 'jwt' | 'totp-enc' | 'decoy' | 'code-hmac' | 'queue' | 'session' | 'refresh';

/** The keys of the service, all derived from `jwt_secret` by HKDF-SHA-256 (RFC 5869) without salt, the use as info. */
export class Keys {
  readonly #secret: string;
  readonly #previousSecret: string | undefined;

  constructor(secret: string, previousSecret: string | undefined) {
    this.#secret = secret;
    this.#previousSecret = previousSecret;
  }

  /** 32 bytes. */
  current(use: KeyUse): Buffer {
    return derive(this.#secret, use);
  }

  /** The key of the former secret, with which older things may have been made. */
  previous(use: KeyUse): Buffer | undefined {
    return this.#previousSecret === undefined ? undefined : derive(this.#previousSecret, use);
  }

  /** The current key and, if there is one, the former. */
  all(use: KeyUse): [Buffer, ...Buffer[]] {
    const previous = this.previous(use);
    return previous ? [this.current(use), previous] : [this.current(use)];
  }
}

function derive(secret: string, use: KeyUse): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', use, 32));
}
