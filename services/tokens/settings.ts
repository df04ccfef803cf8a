import { passwordSettings } from '#kit/auth/passwords.ts';
import { type Config, flag, integer, type Settings, text } from '#kit/config.ts';

const day = 86_400;

export const settings = {
  JWT_ACCESS_SECRET: text({
    secret: true,
    help: 'Key that access tokens are signed with; random outside production, where token routes answer MISSING_SECRET without it',
  }),
  JWT_REFRESH_SECRET: text({ secret: true, help: 'The same for refresh tokens' }),
  JWT_ACCESS_SECRET_PREVIOUS: text({ secret: true, help: 'Former key whose access tokens still hold' }),
  JWT_REFRESH_SECRET_PREVIOUS: text({ secret: true, help: 'Former key whose refresh tokens still hold' }),
  STRICT_SECRETS: flag({ default: false, help: 'Refuse keys under 32 bytes instead of warning' }),
  JWT_ISSUER: text({ default: 'auth-service', help: 'The iss of tokens' }),
  JWT_AUDIENCE: text({ help: 'The aud of tokens; by default the issuer' }),
  ACCESS_TOKEN_TTL_SECONDS: integer({ default: 900, min: 1, max: day, help: 'Life of an access token' }),
  REFRESH_TOKEN_TTL_SECONDS: integer({
    default: 7 * day,
    min: 1,
    max: 365 * day,
    help: 'Life of a refresh token, counted anew at each exchange',
  }),
  SESSION_MAX_AGE_SECONDS: integer({
    default: 30 * day,
    min: 1,
    max: 3_650 * day,
    help: 'Life of a session, however often it is refreshed',
  }),
  MAX_USERS: integer({
    default: 1_000_000,
    min: 1,
    max: 10_000_000,
    help: 'Users beyond which registration is refused; some kB of memory each',
  }),
  PASSWORD_MIN_LENGTH: integer({
    default: 8,
    min: 1,
    max: 64,
    help: 'Least characters of a new password; 15 is the strict setting of NIST 800-63B',
  }),
  PASSWORD_PEPPER: text({ secret: true, help: 'Key that passwords are mixed with before they are hashed' }),
  BREACHED_PASSWORDS_FILE: text({
    help: 'File of sorted SHA-1 sums of passwords to refuse, as Have I Been Pwned gives it out',
  }),
  RATE_LIMIT_MAX: integer({
    default: 20,
    min: 0,
    max: 1_000_000,
    help: 'Requests of a client within the window; 0 is no limit',
  }),
  RATE_LIMIT_WINDOW_MS: integer({ default: 900_000, min: 1, max: day * 1_000, help: 'The sliding window' }),
  LOCKOUT_THRESHOLD: integer({
    default: 5,
    min: 1,
    max: 100,
    help: 'Wrong passwords that lock sign-in to an address',
  }),
  LOCKOUT_MS: integer({ default: 900_000, min: 1, max: day * 1_000, help: 'How long the lock lasts' }),
  CORS_ORIGIN: text({
    default: '*',
    help: 'Origins whose pages may call the API, separated by commas, or *',
  }),
  TRUST_PROXY: text({
    help: 'Proxies whose X-Forwarded-For counts: a number of hops, or addresses and networks separated by commas',
  }),
  ...passwordSettings,
} satisfies Settings;

export type TokensConfig = Config<typeof settings>;
