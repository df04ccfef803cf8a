import { hkdfSync } from 'node:crypto';
import { join } from 'node:path';
import { refuse } from '@octavo/core';
import { storedSecret } from '@octavo/core/auth';
import type { ServiceContext } from '@octavo/data/service';
import type { PasswordlessConfig } from '../settings.ts';

/** The purpose of a key. No key has two. */
type KeyUse =
  | 'jwt'
  | 'totp-enc'
  | 'decoy'
  | 'code-hmac'
  | 'queue'
  | 'session'
  | 'refresh'
  | 'oidc-key'
  | 'oidc-cookie'
  | 'oidc-form';

/** The keys of the service, derived from `jwt_secret` by HKDF-SHA-256 (RFC 5869), without salt and with the use as info. */
export class Keys {
  readonly #secret: string;
  readonly #previousSecret: string | undefined;

  constructor(secret: string, previousSecret: string | undefined) {
    this.#secret = secret;
    this.#previousSecret = previousSecret;
  }

  /** 32 bytes. */
  current(use: KeyUse): Buffer {
    return derive(this.#secret, use);
  }

  /** The key derived from the previous secret, for data that was made with it. */
  previous(use: KeyUse): Buffer | undefined {
    return this.#previousSecret === undefined ? undefined : derive(this.#previousSecret, use);
  }

  /** The current key and, if there is one, the previous key. */
  keysFor(use: KeyUse): [Buffer, ...Buffer[]] {
    const previous = this.previous(use);
    return previous ? [this.current(use), previous] : [this.current(use)];
  }
}

function derive(secret: string, use: KeyUse): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', use, 32));
}

const secretCharactersMin = 32;
const tooShort = `must be at least ${secretCharactersMin} characters`;

/** Refuses a short secret, also a previous one: anyone who guesses it can sign tokens. */
export function checkSecrets(
  config: PasswordlessConfig,
  { environment }: Pick<ServiceContext, 'environment'>,
): void {
  const { PASSWORDLESS_JWT_SECRET: given, PASSWORDLESS_JWT_SECRET_PREVIOUS: previous } = config;
  const isMissing = given === undefined && environment === 'production';
  refuse({
    ...(isShort(given) && { PASSWORDLESS_JWT_SECRET: `${tooShort} (jwt_secret)` }),
    ...(isShort(previous) && { PASSWORDLESS_JWT_SECRET_PREVIOUS: `${tooShort} (jwt_secret_previous)` }),
    ...(isMissing && { PASSWORDLESS_JWT_SECRET: '(jwt_secret) is required with NODE_ENV=production' }),
  });
}

/**
 * Outside production, a missing secret is generated and stored in the data folder, so that tokens and stored secrets stay valid after
 * a restart.
 */
export async function openKeys(config: PasswordlessConfig, context: ServiceContext): Promise<Keys> {
  const { PASSWORDLESS_JWT_SECRET: given, PASSWORDLESS_JWT_SECRET_PREVIOUS: previous } = config;
  return new Keys(given ?? (await storedSecret(join(context.dataFolder, 'passwordless.secret'))), previous);
}

function isShort(secret: string | undefined): boolean {
  return secret !== undefined && [...secret].length < secretCharactersMin;
}
