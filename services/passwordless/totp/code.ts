import { createHmac, timingSafeEqual } from 'node:crypto';
import { codeDigits } from '../codes.ts';

// Time-based one-time passwords (RFC 6238): HMAC-SHA-1, six digits, steps of 30 seconds.

export const totpSecretBytes = 20;

const stepMs = 30_000;
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/**
 * The step of a code: the current one, or the one before or after, as clocks can be a little off. Undefined if the code is wrong. All three
 * are compared in constant time.
 */
export function matchingStep(secret: Uint8Array, code: string, nowMs: number): number | undefined {
  const current = Math.floor(nowMs / stepMs);
  let matching: number | undefined;
  for (const step of [current - 1, current, current + 1]) {
    const expected = Buffer.from(codeAt(secret, step));
    const given = Buffer.from(code);
    if (expected.length === given.length && timingSafeEqual(expected, given)) matching = step;
  }
  return matching;
}

/** The code of one step: the HOTP value of RFC 4226 section 5.3 with the step as counter. */
export function codeAt(secret: Uint8Array, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac('sha1', secret).update(counter).digest();
  const offset = (mac.at(-1) ?? 0) & 0xf;
  const value = mac.readUInt32BE(offset) & 0x7fffffff;
  return String(value % 10 ** codeDigits).padStart(codeDigits, '0');
}

/** The address in the QR code for an authenticator app (Key Uri Format). */
export function otpauthUrl({
  secret,
  issuer,
  email,
}: {
  secret: string;
  issuer: string;
  email: string;
}): string {
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(email)}`;
  const rest = `issuer=${encodeURIComponent(issuer)}&algorithm=SHA1&digits=${codeDigits}&period=${stepMs / 1_000}`;
  return `otpauth://totp/${label}?secret=${secret}&${rest}`;
}

/** Base 32 without padding (RFC 4648 section 6), as authenticator apps expect secrets. */
export function base32(bytes: Uint8Array): string {
  let [bits, value, text] = [0, 0, ''];
  for (const byte of bytes) {
    value = (value << 8) | byte;
    bits += 8;
    for (; bits >= 5; bits -= 5) text += alphabet[(value >>> (bits - 5)) & 31];
    value &= (1 << bits) - 1;
  }
  return bits > 0 ? text + alphabet[(value << (5 - bits)) & 31] : text;
}
