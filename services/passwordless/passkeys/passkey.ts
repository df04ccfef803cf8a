import { AppError } from '@octavo/core';
import { isBlank } from '@octavo/core/text';
import type { Method } from '../sessions/index.ts';

/** A WebAuthn credential of a user. */
export interface Passkey {
  /** The credential id that the authenticator chose, in base64url. */
  readonly id: string;
  readonly userId: string;
  /** A COSE key. */
  readonly publicKey: Uint8Array<ArrayBuffer>;
  readonly counter: number;
  readonly transports: readonly string[];
  readonly name: string;
  /** True if it can be synced to other devices. Never changes. */
  readonly isBackupEligible: boolean;
  readonly isBackedUp: boolean;
  readonly createdAtMs: number;
  readonly lastUsedAtMs: number | undefined;
}

/** Our identity for authenticators. */
export interface RelyingParty {
  readonly id: string;
  readonly name: string;
  readonly origins: readonly string[];
  readonly userVerification: 'preferred' | 'required';
}

export const passkeysMax = 10;
export const ceremonyTtlMs = 300_000;
export const ceremonyTimeoutMs = 300_000;
/** EdDSA, ES256, RS256, by their COSE numbers. */
export const algorithms: readonly number[] = [-8, -7, -257];
/** WebAuthn 4: a credential id has at most 1,023 bytes. */
export const credentialIdCharactersMax = 1_364;

export const nameCharactersMax = 64;

/** A name as its owner chose it, without invisible characters. */
export function checkName(given: string): string {
  const name = given.replace(/\p{C}/gu, ' ').replace(/\s+/g, ' ').trim();
  const characters = [...name].length;
  if (isBlank(name)) throw badName('is required');
  if (characters > nameCharactersMax) throw badName(`must be at most ${nameCharactersMax} characters`);
  return name;
}

/** The name of a passkey until its owner chooses one. */
export function firstName(isBackupEligible: boolean, transports: readonly string[]): string {
  if (isBackupEligible) return 'Passkey';
  return transports.includes('internal') ? 'This device' : 'Security key';
}

/**
 * Returns the authentication methods (RFC 8176): a key that stays in one device or one that is synced, and `user` if the
 * authenticator verified its holder, not only their presence.
 */
export function methodsOf(isBackupEligible: boolean, isUserVerified: boolean): Method[] {
  const key = isBackupEligible ? 'swk' : 'hwk';
  return isUserVerified ? [key, 'user'] : [key];
}

function badName(problem: string): AppError {
  return new AppError('invalid_input', `name ${problem}`, { fields: { name: problem } });
}
