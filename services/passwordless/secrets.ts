import { join } from 'node:path';
import { storedSecret } from '#kit/auth/stored-secret.ts';
import { refuse } from '#kit/config.ts';
import type { ServiceContext } from '#kit/service.ts';
import { Keys } from './keys.ts';
import type { PasswordlessConfig } from './settings.ts';

const secretCharactersMin = 32;

/**
 * The keys of the service. Too short a secret is refused. Outside production one that is missing is made at random and kept in
 * the data folder, so that tokens and stored secrets outlive a restart.
 */
export async function chooseKeys(config: PasswordlessConfig, context: ServiceContext): Promise<Keys> {
  const { PASSWORDLESS_JWT_SECRET: given, PASSWORDLESS_JWT_SECRET_PREVIOUS: previous } = config;
  const problem = `must be at least ${secretCharactersMin} characters (jwt_secret)`;
  const isShort = given !== undefined && [...given].length < secretCharactersMin;
  refuse({
    ...(isShort ? { PASSWORDLESS_JWT_SECRET: problem } : {}),
    ...(given === undefined && context.environment === 'production'
      ? { PASSWORDLESS_JWT_SECRET: `(jwt_secret) is required with NODE_ENV=production` }
      : {}),
  });
  const secret = given ?? (await storedSecret(join(context.dataFolder, 'passwordless.secret')));
  return new Keys(secret, previous);
}
