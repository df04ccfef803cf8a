import { randomUUID, randomUUIDv7 } from 'node:crypto';
import { randomBytes } from './random.ts';

/** A random UUID (version 4, RFC 9562): it tells nothing about when it was made. */
export function newId(): string {
  return randomUUID();
}

/**
 * A UUID that begins with the time (version 7, RFC 9562), so that rows come at the end of their index, where writing is cheaper. It
 * tells when it was made: only for what says so anyway.
 */
export function newOrderedId(): string {
  return randomUUIDv7();
}

/** A secret of `bytes` random bytes in base64url without padding (RFC 4648 section 5); 32 bytes by default. */
export function newSecret(bytes = 32): string {
  return randomBytes(bytes).toString('base64url');
}
