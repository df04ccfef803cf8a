import { flag, integer, type Settings, text } from '#kit/config.ts';

const seconds = (initial: number, min: number, max: number, help: string) =>
  integer({ default: initial, min, max, help });

/** The settings of the e-mail queue; those that name the mail server are with the specified ones. */
export const mailSettings = {
  PASSWORDLESS_WORKER: flag({
    default: true,
    help: 'Whether the web process sends the mails too; off leaves them to passwordless-worker',
  }),
  PASSWORDLESS_SMTP_INSECURE: flag({
    default: false,
    help: 'Send without TLS, or with a certificate of nobody known, to a mail server elsewhere',
  }),
  PASSWORDLESS_SMTP_CA_FILE: text({ help: 'Certificates to trust besides the well-known ones, PEM' }),
  PASSWORDLESS_MAIL_FOLDER: text({
    help: 'Folder for mails without a mail server; by default mails in the data folder, and none in production',
  }),
  PASSWORDLESS_MAIL_TEMPLATES: text({ help: 'Folder of mail texts that replace or add to the shipped ones' }),
  PASSWORDLESS_DKIM_DOMAIN: text({ help: 'Domain to sign mails for (DKIM)' }),
  PASSWORDLESS_DKIM_SELECTOR: text({ help: 'Its selector' }),
  PASSWORDLESS_DKIM_PRIVATE_KEY_FILE: text({ help: 'File of its RSA key, PEM' }),
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
    help: 'Tries after which a mail is given up',
  }),
  PASSWORDLESS_MAIL_BACKOFF_SECONDS: seconds(5, 1, 3_600, 'Wait before the second try; it doubles with each'),
  PASSWORDLESS_MAIL_BACKOFF_MAX_SECONDS: seconds(600, 1, 86_400, 'Longest wait between tries'),
  PASSWORDLESS_MAIL_LEASE_SECONDS: seconds(
    60,
    1,
    3_600,
    'After this time a mail of a worker that ended without a word is sent by another; longer than a mail server takes',
  ),
  PASSWORDLESS_MAIL_POLL_SECONDS: seconds(
    2,
    1,
    3_600,
    'How often a worker looks by itself, where no nudge reaches it',
  ),
  PASSWORDLESS_MAIL_PAUSE_SECONDS: seconds(
    30,
    1,
    3_600,
    'Pause of a worker whose password or TLS a mail server refuses',
  ),
  PASSWORDLESS_MAIL_KEEP_DAYS: integer({
    default: 7,
    min: 1,
    max: 3_650,
    help: 'How long the queue remembers mails that were dealt with',
  }),
} satisfies Settings;
