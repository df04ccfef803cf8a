import { integer, type Settings, text } from '../config.ts';

/** The mail server that services share; services that send e-mail spread these settings into theirs. */
export const mailServerSettings = {
  SMTP_HOST: text({ help: 'Mail server of all services that have none of their own' }),
  SMTP_PORT: integer({ min: 1, max: 65_535, help: 'Port of the mail server' }),
  SMTP_USERNAME: text({ help: 'User name at the mail server' }),
  SMTP_PASSWORD: text({ secret: true, help: 'Password at the mail server' }),
} satisfies Settings;
