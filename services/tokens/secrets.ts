import { refuse } from '#kit/config.ts';
import { newSecret } from '#kit/ids.ts';
import type { Log } from '#kit/log.ts';
import type { TokensConfig } from './settings.ts';
import type { Secrets } from './tokens.ts';

const secretBytesMin = 32;

/**
 * The keys that tokens are signed with; undefined in production without them, where the service starts and says so. Elsewhere they are
 * random: what they would outlive, the data, is in memory too.
 */
export function chooseSecrets(
  config: TokensConfig,
  environment: 'development' | 'test' | 'production',
  log: Log,
): Secrets | undefined {
  const { JWT_ACCESS_SECRET: access, JWT_REFRESH_SECRET: refresh } = config;
  const given = { JWT_ACCESS_SECRET: access, JWT_REFRESH_SECRET: refresh };
  const missing = namesOf(given, (secret) => secret === undefined);
  if (missing.length > 0 && environment === 'production') {
    log.fatal({ missing }, 'keys are missing: token routes answer 500 MISSING_SECRET until they are set');
    return undefined;
  }
  const short = namesOf(
    given,
    (secret) => secret !== undefined && Buffer.byteLength(secret) < secretBytesMin,
  );
  const problem = `must be at least ${secretBytesMin} bytes`;
  if (config.STRICT_SECRETS) refuse(Object.fromEntries(short.map((name) => [name, problem])));
  if (short.length > 0) log.warn({ short }, `keys ${problem} (RFC 7518 section 3.2)`);
  if (access !== undefined && access === refresh) log.warn('both kinds of tokens are signed with one key');
  return {
    access: access ?? newSecret(),
    refresh: refresh ?? newSecret(),
    previousAccess: config.JWT_ACCESS_SECRET_PREVIOUS,
    previousRefresh: config.JWT_REFRESH_SECRET_PREVIOUS,
  };
}

function namesOf(
  given: Readonly<Record<string, string | undefined>>,
  holds: (secret: string | undefined) => boolean,
): string[] {
  return Object.keys(given).filter((name) => holds(given[name]));
}
