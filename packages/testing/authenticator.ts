import type { Clock } from '@octavo/core';
import { totpCode } from '@octavo/core/auth';

const base32Digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** The code of an authenticator app, `steps` of 30 seconds away from the clock. */
export function appCode(secretText: string, clock: Clock, steps = 0): string {
  const bits = [...secretText]
    .map((digit) => base32Digits.indexOf(digit).toString(2).padStart(5, '0'))
    .join('');
  const bytes = Array.from({ length: Math.floor(bits.length / 8) }, (_, index) =>
    Number.parseInt(bits.slice(index * 8, index * 8 + 8), 2),
  );
  return totpCode(Uint8Array.from(bytes), Math.floor(clock.now() / 30_000) + steps);
}

/** The characters of a text as an East Asian keyboard may type them: a digit becomes a full-width one. */
export function fullWidth(text: string): string {
  return text
    .replace(/[!-~]/g, (sign) => String.fromCharCode(sign.charCodeAt(0) + 0xfee0))
    .replaceAll(' ', '\u3000');
}
