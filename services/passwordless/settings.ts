import { type Config, choice, flag, integer, type Settings, text } from '#kit/config.ts';
import { mailSettings } from './mail-settings.ts';

const day = 86_400;

const limit = (initial: number, help: string) => integer({ default: initial, min: 0, max: 1_000_000, help });

/** Each is also a key of the configuration file, in lower case and without the prefix. */
export const settings = {
  PASSWORDLESS_JWT_SECRET: text({
    secret: true,
    requiredInProduction: true,
    help: 'Secret that all keys are derived from, at least 32 characters; random outside production and kept in the data folder',
  }),
  PASSWORDLESS_JWT_SECRET_PREVIOUS: text({
    secret: true,
    help: 'Former secret, whose tokens and stored secrets still hold',
  }),
  PASSWORDLESS_ISSUER: text({
    help: 'The iss of access tokens; by default the origin of the magic link address',
  }),
  PASSWORDLESS_AUDIENCE: text({ help: 'The aud of access tokens; by default the issuer' }),
  PASSWORDLESS_ACCESS_TOKEN_EXPIRY_SECONDS: integer({
    default: 900,
    min: 1,
    max: day,
    help: 'Life of an access token',
  }),
  PASSWORDLESS_REFRESH_TOKEN_EXPIRY_SECONDS: integer({
    default: 7 * day,
    min: 1,
    max: 365 * day,
    help: 'Life of a refresh token, counted anew at each exchange',
  }),
  PASSWORDLESS_SESSION_MAX_AGE_SECONDS: integer({
    default: 30 * day,
    min: 1,
    max: 3_650 * day,
    help: 'Life of a session, however often it is refreshed',
  }),
  PASSWORDLESS_REFRESH_RETRY_SECONDS: integer({
    default: 0,
    min: 0,
    max: 60,
    help: 'For how long the refresh token just exchanged gives the same successor again, for answers that got lost',
  }),
  PASSWORDLESS_MAGIC_LINK_EXPIRY_SECONDS: integer({
    default: 600,
    min: 1,
    max: day,
    help: 'Life of a magic link and its code',
  }),
  PASSWORDLESS_MAGIC_LINK_BASE_URL: text({
    requiredInProduction: true,
    help: 'Address of the verify endpoint that mails link to; by default http://localhost:PORT/verify/magic',
  }),
  PASSWORDLESS_ALLOW_SIGNUP: flag({
    default: true,
    help: 'Whether a magic link makes a user of an address that has none',
  }),
  PASSWORDLESS_ENROLLMENT_WITHOUT_PROOF: choice(['provisional', 'inert', 'off'], {
    default: 'provisional',
    help: 'What adding a factor without a token does where the address belongs to somebody: a separate user, nothing, or 401',
  }),
  PASSWORDLESS_WEBAUTHN_RP_ID: text({
    help: 'Domain that passkeys are made for; by default the host of the magic link address',
  }),
  PASSWORDLESS_WEBAUTHN_ORIGIN: text({
    help: 'Origins whose pages may use passkeys, separated by commas; by default the origin of the magic link address',
  }),
  PASSWORDLESS_WEBAUTHN_RP_NAME: text({ default: 'Octavo', help: 'Name that authenticators show' }),
  PASSWORDLESS_WEBAUTHN_USER_VERIFICATION: choice(['preferred', 'required'], {
    default: 'preferred',
    help: 'Whether an authenticator must verify who holds it',
  }),
  PASSWORDLESS_SMTP_HOST: text({
    help: 'Server that takes our mail; by default SMTP_HOST, without it a folder',
  }),
  PASSWORDLESS_SMTP_PORT: integer({
    default: 587,
    min: 1,
    max: 65_535,
    help: 'Its port; 465 is TLS at once',
  }),
  PASSWORDLESS_SMTP_USERNAME: text({ help: 'Who we are to it' }),
  PASSWORDLESS_SMTP_PASSWORD: text({ secret: true, help: 'And the password' }),
  PASSWORDLESS_EMAIL_FROM: text({ default: 'Octavo <no-reply@localhost>', help: 'Sender of the mails' }),
  PASSWORDLESS_DATABASE_PATH: text({
    help: 'SQLite file; by default passwordless.sqlite in the data folder',
  }),
  PASSWORDLESS_DATABASE_URL: text({
    secret: true,
    help: 'PostgreSQL to keep data in; by default DATABASE_URL',
  }),
  PASSWORDLESS_LIMIT_POST_PER_IP: limit(300, 'POST requests of a client in 5 minutes; 0 is no limit'),
  PASSWORDLESS_LIMIT_MAGIC_PER_IP: limit(30, 'Magic links that a client may ask for in 10 minutes'),
  PASSWORDLESS_LIMIT_MAGIC_PER_ADDRESS: limit(5, 'Magic links to an address in 10 minutes'),
  PASSWORDLESS_LIMIT_ENROLL_PER_IP: limit(20, 'Enrolments that a client may begin in 10 minutes'),
  PASSWORDLESS_LIMIT_VERIFY_PER_IP: limit(
    60,
    'Links, codes and ceremonies that a client may hand in in 5 minutes',
  ),
  PASSWORDLESS_LIMIT_REFRESH_PER_IP: limit(150, 'Exchanges of refresh tokens of a client in 5 minutes'),
  PASSWORDLESS_CORS_ORIGIN: text({
    default: '*',
    help: 'Origins whose pages may call the API, separated by commas, or *',
  }),
  PASSWORDLESS_AUDIT_DAYS: integer({
    default: 90,
    min: 1,
    max: 3_650,
    help: 'How long events are kept for the auditor',
  }),
  ...mailSettings,
  CONFIG_PATH: text({
    help: 'Configuration file, TOML or JSON; by default config.toml or config.json in the current folder',
  }),
  SMTP_HOST: text({ help: 'Mail server of every service that names none of its own' }),
  SMTP_PORT: integer({ min: 1, max: 65_535, help: 'Its port' }),
  SMTP_USERNAME: text({ help: 'Who we are to it' }),
  SMTP_PASSWORD: text({ secret: true, help: 'And the password' }),
  DATABASE_URL: text({ secret: true, help: 'PostgreSQL to keep data in; without it SQLite files' }),
} satisfies Settings;

export type PasswordlessConfig = Config<typeof settings>;
