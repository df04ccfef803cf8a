import { randomInt, randomUUID, randomUUIDv7 } from 'node:crypto';
import { randomBytes } from './random.ts';

/** A random UUID (version 4, RFC 9562). It does not reveal when it was made. */
export function newId(): string {
  return randomUUID();
}

let last = '';

/**
 * A UUID that starts with the time (version 7, RFC 9562), so that new rows are at the end of their index, where writing is cheaper.
 * Those of one process rise, also within a millisecond. It reveals when it was made, so use it only where that is public.
 */
export function newOrderedId(): string {
  const id = randomUUIDv7();
  last = id > last ? id : after(last);
  return last;
}

/** A slightly larger UUID: its last 48 random bits rise by a random amount (RFC 9562 section 6.2, method 2). */
function after(id: string): string {
  const tail = Number.parseInt(id.slice(24), 16) + 1 + randomInt(0xffff);
  // In the rare case of an overflow the order does not matter.
  return tail > 0xffff_ffff_ffff ? randomUUIDv7() : id.slice(0, 24) + tail.toString(16).padStart(12, '0');
}

/** A secret of `bytes` random bytes in base64url without padding (RFC 4648 section 5); 32 bytes by default. */
export function newSecret(bytes = 32): string {
  return randomBytes(bytes).toString('base64url');
}
