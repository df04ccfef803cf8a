import { lockoutSettings } from '#kit/auth/lockout-settings.ts';
import { passwordRuleSettings } from '#kit/auth/password-rules.ts';
import { passwordSettings } from '#kit/auth/passwords.ts';
import { type Config, flag, integer, type Settings, text } from '#kit/config.ts';
import { trustProxySetting } from '#kit/http/client-address.ts';
import { corsOriginSetting } from '#kit/http/cors.ts';

const day = 86_400;

export const settings = {
  JWT_ACCESS_SECRET: text({
    secret: true,
    help: 'Key that signs access tokens. Random if unset; in production, token routes then answer MISSING_SECRET',
  }),
  JWT_REFRESH_SECRET: text({ secret: true, help: 'Key that signs refresh tokens, likewise' }),
  JWT_ACCESS_SECRET_PREVIOUS: text({ secret: true, help: 'Previous key, still accepted for access tokens' }),
  JWT_REFRESH_SECRET_PREVIOUS: text({
    secret: true,
    help: 'Previous key, still accepted for refresh tokens',
  }),
  STRICT_SECRETS: flag({ default: false, help: 'Reject keys under 32 bytes instead of warning' }),
  JWT_ISSUER: text({ default: 'auth-service', help: 'The iss claim of tokens' }),
  JWT_AUDIENCE: text({ help: 'The aud claim of tokens; the issuer by default' }),
  ACCESS_TOKEN_TTL_SECONDS: integer({ default: 900, min: 1, max: day, help: 'Lifetime of an access token' }),
  REFRESH_TOKEN_TTL_SECONDS: integer({
    default: 7 * day,
    min: 1,
    max: 365 * day,
    help: 'Lifetime of a refresh token, from its issue',
  }),
  SESSION_MAX_AGE_SECONDS: integer({
    default: 30 * day,
    min: 1,
    max: 3_650 * day,
    help: 'Lifetime of a session, however often it is refreshed',
  }),
  MAX_USERS: integer({
    default: 1_000_000,
    min: 1,
    max: 10_000_000,
    help: 'Most users; each takes a few kB of memory. Beyond that, registration fails',
  }),
  ...passwordRuleSettings,
  PASSWORD_PEPPER: text({ secret: true, help: 'Key mixed into passwords before they are hashed' }),
  RATE_LIMIT_MAX: integer({
    default: 20,
    min: 0,
    max: 1_000_000,
    help: 'Requests per client within the window; 0 means no limit',
  }),
  RATE_LIMIT_WINDOW_MS: integer({
    default: 900_000,
    min: 1,
    max: day * 1_000,
    help: 'Length of the sliding window',
  }),
  ...lockoutSettings,
  CORS_ORIGIN: { ...corsOriginSetting, default: '*' },
  TRUST_PROXY: trustProxySetting,
  ...passwordSettings,
} satisfies Settings;

export type TokensConfig = Config<typeof settings>;
