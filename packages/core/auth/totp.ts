import { createHmac, timingSafeEqual } from 'node:crypto';

// Time-based one-time passwords (RFC 6238) as authenticator apps expect them: HMAC-SHA-1, six digits, steps of 30 seconds.

/** The length of a secret: that of the output of SHA-1, as RFC 4226 section 4 recommends. */
export const totpSecretBytes = 20;

const stepMs = 30_000;
const digits = 6;
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** The code of one step, the number of 30-second steps since 1970: the HOTP value of RFC 4226 section 5.3. */
export function totpCode(secret: Uint8Array, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac('sha1', secret).update(counter).digest();
  const offset = (mac.at(-1) ?? 0) & 0xf;
  const value = mac.readUInt32BE(offset) & 0x7fffffff;
  return String(value % 10 ** digits).padStart(digits, '0');
}

/**
 * The step of a code at a time in milliseconds since 1970: the current one, or the one before or after, as clocks can be a
 * little off. Undefined if the code is wrong. All three are compared, in constant time. The caller must store the step and
 * accept only later ones, so that each code works once (RFC 6238 section 5.2).
 */
export function matchingTotpStep(secret: Uint8Array, code: string, nowMs: number): number | undefined {
  const current = Math.floor(nowMs / stepMs);
  const given = Buffer.from(code);
  let matching: number | undefined;
  for (const step of [current - 1, current, current + 1]) {
    const expected = Buffer.from(totpCode(secret, step));
    if (expected.length === given.length && timingSafeEqual(expected, given)) matching = step;
  }
  return matching;
}

/** Details of an account for an authenticator app. */
export interface TotpAccount {
  /** Secret in base 32, see {@link base32}. */
  readonly secret: string;
  /** The service, as the app shows it. */
  readonly issuer: string;
  /** The user name or address, as the app shows it. */
  readonly account: string;
}

/** The address in the QR code for an authenticator app (Key Uri Format). */
export function otpauthUrl({ secret, issuer, account }: TotpAccount): string {
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(account)}`;
  const rest = `issuer=${encodeURIComponent(issuer)}&algorithm=SHA1&digits=${digits}&period=${stepMs / 1_000}`;
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
