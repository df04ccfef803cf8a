import { randomFillSync } from 'node:crypto';

const pool = Buffer.alloc(4_096);
let used = pool.length;

/**
 * Bytes of the system's cryptographic generator, for keys, nonces and tokens. They are drawn many at a time, since each draw costs as
 * much as all else that a token takes; what was given out is not kept.
 */
export function randomBytes(count: number): Buffer {
  if (count > pool.length) return randomFillSync(Buffer.alloc(count));
  if (used + count > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  // Memory of its own: that of small buffers is shared with others.
  const given = Buffer.alloc(count);
  pool.copy(given, 0, used, used + count);
  pool.fill(0, used, used + count);
  used += count;
  return given;
}
