import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Descriptor } from './options.ts';

/** Lengths of credential ids and transports as authenticators give them. */
const forms = [
  // Google Password Manager, 1Password, Bitwarden
  { idBytes: 16, transports: ['hybrid', 'internal'] },
  // iCloud Keychain
  { idBytes: 20, transports: ['hybrid', 'internal'] },
  // Windows Hello
  { idBytes: 32, transports: ['internal'] },
  // Security keys
  { idBytes: 48, transports: ['nfc', 'usb'] },
  { idBytes: 64, transports: ['usb'] },
] as const;

/**
 * The passkey offered for an address that has none: the same each time, and like a real one. The options of a sign-in thus do not tell which
 * addresses are known (WebAuthn Level 3, 14.6.2). The second half of its id is a MAC of the first: see {@link isDecoy}.
 */
export function decoyFor(key: Uint8Array, email: string): Descriptor {
  const [formByte = 0] = hmac(key, 'form', email);
  const { idBytes, transports } = forms[formByte % forms.length] ?? forms[0];
  const half = hmac(key, 'id', email).subarray(0, idBytes / 2);
  return { id: Buffer.concat([half, macOf(key, half)]).toString('base64url'), transports };
}

/** Returns true if an id is a decoy's, of any address, made with one of the keys. */
export function isDecoy(keys: readonly Uint8Array[], id: string): boolean {
  const bytes = Buffer.from(id, 'base64url');
  if (!forms.some(({ idBytes }) => idBytes === bytes.length)) return false;
  const half = bytes.subarray(0, bytes.length / 2);
  return keys.some((key) => timingSafeEqual(macOf(key, half), bytes.subarray(half.length)));
}

/** A user handle of no user. It is as stable as a user's, so request twice tells nothing. */
export function decoyHandle(key: Uint8Array, email: string): string {
  return hmac(key, 'handle', email).toString('base64url');
}

function macOf(key: Uint8Array, half: Uint8Array): Buffer {
  return hmac(key, 'mac', half).subarray(0, half.length);
}

/** HMAC-SHA-256, for one purpose each. */
function hmac(key: Uint8Array, purpose: string, of: string | Uint8Array): Buffer {
  return createHmac('sha256', key).update(`${purpose} `).update(of).digest();
}
