import { type Config, choice, flag, integer, type Settings, text } from '@octavo/core';
import { lockoutSettings } from '@octavo/core/auth';
import { passwordRuleSettings, passwordSettings } from '@octavo/core/passwords';
import { insecureMailSetting, mailServerSettings } from '@octavo/mail/settings';
import { corsOriginSetting, trustProxySetting } from '@octavo/web/server';

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
  EMAIL_VERIFICATION: choice(['off', 'optional', 'required'], {
    default: 'optional',
    help: 'Mails a link to new addresses; required gives no tokens until it is used',
  }),
  PASSWORD_RESET_SECONDS: integer({
    default: 1_800,
    min: 60,
    max: day,
    help: 'Lifetime of a link that resets a password',
  }),
  EMAIL_VERIFICATION_SECONDS: integer({
    default: day,
    min: 60,
    max: 7 * day,
    help: 'Lifetime of a link that verifies an address',
  }),
  LINK_MAILS_PER_ADDRESS: integer({
    default: 5,
    min: 0,
    max: 1_000_000,
    help: 'Mails with links of each kind per e-mail address in an hour; 0 means no limit',
  }),
  TOKENS_URL: text({
    help: 'Public address of the service, for links in mails; default: http://localhost:PORT. In production, no mails are sent without it',
  }),
  TOKENS_MAIL_FROM: text({ default: 'Octavo Accounts <no-reply@localhost>', help: 'Sender of the mails' }),
  TOKENS_MAIL_FOLDER: text({
    help: 'Folder for mails where SMTP_HOST is not set; default: accounts-mails in the data folder, in production none',
  }),
  TOKENS_SMTP_INSECURE: insecureMailSetting,
  ...mailServerSettings,
} satisfies Settings;

export type TokensConfig = Config<typeof settings>;
