import { type Config, choice, flag, integer, type Settings, text } from '@octavo/core';
import { databaseSettings, problemOfUrl } from '@octavo/data';
import { insecureMailSetting, mailServerSettings } from '@octavo/mail/settings';
import { corsOriginSetting } from '@octavo/web/server';

const day = 86_400;

const seconds = (initial: number, min: number, max: number, help: string) =>
  integer({ default: initial, min, max, help });

const limit = (initial: number, help: string) => integer({ default: initial, min: 0, max: 1_000_000, help });

/** The settings. Each is also a key of the configuration file: in lower case, without the prefix. */
export const settings = {
  PASSWORDLESS_JWT_SECRET: text({
    secret: true,
    requiredInProduction: true,
    help: 'Secret that all keys are derived from, at least 32 characters; outside production a random one is kept in the data folder',
  }),
  PASSWORDLESS_JWT_SECRET_PREVIOUS: text({
    secret: true,
    help: 'Previous secret, whose tokens and stored secrets stay valid',
  }),
  PASSWORDLESS_ISSUER: text({
    help: 'iss of access tokens; default: the origin of PASSWORDLESS_MAGIC_LINK_BASE_URL',
  }),
  PASSWORDLESS_AUDIENCE: text({ help: 'aud of access tokens; default: the issuer' }),
  PASSWORDLESS_ACCESS_TOKEN_EXPIRY_SECONDS: integer({
    default: 900,
    min: 1,
    max: day,
    help: 'Lifetime of an access token',
  }),
  PASSWORDLESS_REFRESH_TOKEN_EXPIRY_SECONDS: integer({
    default: 7 * day,
    min: 1,
    max: 365 * day,
    help: 'Lifetime of a refresh token; starts again at each exchange',
  }),
  PASSWORDLESS_SESSION_MAX_AGE_SECONDS: integer({
    default: 30 * day,
    min: 1,
    max: 3_650 * day,
    help: 'Maximum lifetime of a session, however often it is refreshed',
  }),
  PASSWORDLESS_REFRESH_RETRY_SECONDS: integer({
    default: 10,
    min: 0,
    max: 60,
    help: 'Time for which an exchanged refresh token returns the same new token again, for clients that lost the response',
  }),
  PASSWORDLESS_MAGIC_LINK_EXPIRY_SECONDS: integer({
    default: 600,
    min: 1,
    max: day,
    help: 'Lifetime of a magic link and its code',
  }),
  PASSWORDLESS_MAGIC_LINK_BASE_URL: text({
    requiredInProduction: true,
    help: 'Address that mails link to; default: http://localhost:PORT/verify/magic',
  }),
  PASSWORDLESS_URL: text({
    help: 'Public address without a path, the issuer of OpenID Connect; default: the origin of PASSWORDLESS_MAGIC_LINK_BASE_URL',
  }),
  PASSWORDLESS_ALLOW_SIGNUP: flag({
    default: true,
    help: 'Creates a user for a magic link, or for a sign-in method added without a token',
  }),
  PASSWORDLESS_ENROLLMENT_WITHOUT_PROOF: choice(['provisional', 'inert', 'off'], {
    default: 'provisional',
    help: 'Adding a sign-in method without a token to an address that has an owner: creates a separate user, stores nothing, or returns 401',
  }),
  PASSWORDLESS_WEBAUTHN_RP_ID: text({
    help: 'Domain of passkeys; default: the host of PASSWORDLESS_MAGIC_LINK_BASE_URL',
  }),
  PASSWORDLESS_WEBAUTHN_ORIGIN: text({
    help: 'Origins whose pages may use passkeys, separated by commas; default: the origin of PASSWORDLESS_MAGIC_LINK_BASE_URL',
  }),
  PASSWORDLESS_WEBAUTHN_RP_NAME: text({
    default: 'Octavo',
    help: 'Name of the service in authenticators and mails',
  }),
  PASSWORDLESS_WEBAUTHN_USER_VERIFICATION: choice(['preferred', 'required'], {
    default: 'preferred',
    help: 'Verification of the user by the authenticator, with a PIN or fingerprint',
  }),
  PASSWORDLESS_SMTP_HOST: text({
    help: 'Mail server; default: SMTP_HOST. Without one, mails go to a folder',
  }),
  PASSWORDLESS_SMTP_PORT: mailServerSettings.SMTP_PORT,
  PASSWORDLESS_SMTP_USERNAME: mailServerSettings.SMTP_USERNAME,
  PASSWORDLESS_SMTP_PASSWORD: mailServerSettings.SMTP_PASSWORD,
  PASSWORDLESS_EMAIL_FROM: text({ default: 'Octavo <no-reply@localhost>', help: 'Sender of the mails' }),
  PASSWORDLESS_DATABASE_PATH: text({
    help: 'SQLite file; default: passwordless.sqlite in the data folder',
  }),
  PASSWORDLESS_DATABASE_URL: text({
    secret: true,
    help: 'PostgreSQL to keep data in; default: DATABASE_URL',
    check: problemOfUrl,
  }),
  PASSWORDLESS_LIMIT_POST_PER_IP: limit(
    300,
    'POST requests per client in 5 minutes; 0 turns this and the next limits off',
  ),
  PASSWORDLESS_LIMIT_MAGIC_PER_IP: limit(30, 'Magic links requested per client in 10 minutes'),
  PASSWORDLESS_LIMIT_MAGIC_PER_ADDRESS: limit(5, 'Magic links per e-mail address in 10 minutes'),
  PASSWORDLESS_LIMIT_ENROLL_PER_IP: limit(20, 'Enrollments started per client in 10 minutes'),
  PASSWORDLESS_LIMIT_VERIFY_PER_IP: limit(60, 'Links, codes and passkey responses per client in 5 minutes'),
  PASSWORDLESS_LIMIT_REFRESH_PER_IP: limit(150, 'Refresh token exchanges per client in 5 minutes'),
  PASSWORDLESS_LIMIT_OIDC_PER_IP: limit(
    3_000,
    'Requests of OpenID Connect per client in 5 minutes, of browsers and of applications',
  ),
  PASSWORDLESS_LIMIT_OIDC_PER_APPLICATION: limit(
    30_000,
    'Requests of an application that proved its secret in 5 minutes, in place of the limit per client',
  ),
  PASSWORDLESS_CORS_ORIGIN: { ...corsOriginSetting, default: '*' },
  PASSWORDLESS_AUDIT_DAYS: integer({
    default: 90,
    min: 1,
    max: 3_650,
    help: 'Days that audit events are kept',
  }),
  PASSWORDLESS_WORKER: flag({
    default: true,
    help: 'Sends mails from the web process; off leaves them to passwordless-worker',
  }),
  PASSWORDLESS_SMTP_INSECURE: insecureMailSetting,
  PASSWORDLESS_SMTP_CA_FILE: text({ help: 'PEM file of certificates to trust besides the well-known ones' }),
  PASSWORDLESS_MAIL_FOLDER: text({
    help: 'Folder for mails where there is no mail server; default: mails in the data folder, in production none',
  }),
  PASSWORDLESS_MAIL_TEMPLATES: text({
    help: 'Folder of mail templates that replace the shipped ones or add languages',
  }),
  PASSWORDLESS_DKIM_DOMAIN: text({ help: 'Domain to sign mails for (DKIM)' }),
  PASSWORDLESS_DKIM_SELECTOR: text({ help: 'DKIM selector' }),
  PASSWORDLESS_DKIM_PRIVATE_KEY_FILE: text({ help: 'PEM file of the RSA key for DKIM' }),
  PASSWORDLESS_MAIL_CONCURRENCY: integer({
    default: 5,
    min: 1,
    max: 100,
    help: 'Mails that a worker sends at once',
  }),
  PASSWORDLESS_MAIL_TRIES_MAX: integer({
    default: 8,
    min: 1,
    max: 100,
    help: 'Tries before a mail fails for good',
  }),
  PASSWORDLESS_MAIL_BACKOFF_SECONDS: seconds(
    5,
    1,
    3_600,
    'Wait before the second try; doubles with each try',
  ),
  PASSWORDLESS_MAIL_BACKOFF_MAX_SECONDS: seconds(600, 1, 86_400, 'Longest wait between tries'),
  PASSWORDLESS_MAIL_LEASE_SECONDS: seconds(
    15,
    1,
    3_600,
    'Time after which another worker sends the mail of one that crashed or stands still',
  ),
  PASSWORDLESS_MAIL_TIMEOUT_SECONDS: seconds(
    45,
    1,
    3_600,
    'Longest time that a mail server may take for a mail',
  ),
  PASSWORDLESS_MAIL_POLL_SECONDS: seconds(2, 1, 3_600, 'How often a worker checks the queue on its own'),
  PASSWORDLESS_MAIL_PAUSE_SECONDS: seconds(
    30,
    1,
    3_600,
    'Pause of a worker after the mail server refused its password or TLS',
  ),
  PASSWORDLESS_MAIL_KEEP_DAYS: integer({
    default: 7,
    min: 1,
    max: 3_650,
    help: 'Days that finished mails stay in the queue, without their text',
  }),
  CONFIG_PATH: text({
    help: 'Configuration file, TOML or JSON; default: config.toml or config.json in the current folder',
  }),
  ...mailServerSettings,
  ...databaseSettings,
} satisfies Settings;

export type PasswordlessConfig = Config<typeof settings>;
