import { randomUUID, randomUUIDv7 } from 'node:crypto';
import { randomBytes } from './random.ts';

/** A random UUID (version 4, RFC 9562). It does not reveal when it was made. */
export function newId(): string {
  return randomUUID();
}

/**
 * A UUID that starts with the time (version 7, RFC 9562), so that new rows are at the end of their index, where writing is cheaper.
 * It reveals when it was made, so use it only where that is public.
 */
export function newOrderedId(): string {
  return randomUUIDv7();
}

/** A secret of `bytes` random bytes in base64url without padding (RFC 4648 section 5); 32 bytes by default. */
export function newSecret(bytes = 32): string {
  return randomBytes(bytes).toString('base64url');
}
