import { randomFillSync } from 'node:crypto';

const pool = Buffer.alloc(4_096);
let used = pool.length;

/**
 * Random bytes of the system's cryptographic generator, for keys, nonces and tokens. They are generated 4 KiB at a time, because each
 * call of the generator costs as much as the rest of a token. Bytes that were returned are erased from the pool.
 */
export function randomBytes(count: number): Buffer {
  if (count > pool.length) return randomFillSync(Buffer.alloc(count));
  if (used + count > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  // `Buffer.alloc` does not share memory with other small buffers.
  const bytes = Buffer.alloc(count);
  pool.copy(bytes, 0, used, used + count);
  pool.fill(0, used, used + count);
  used += count;
  return bytes;
}
