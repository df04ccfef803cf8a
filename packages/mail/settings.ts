import { type Config, flag, integer, isLoopback, rejectSettings, type Settings, text } from '@octavo/core';
import { type Mailer, openFolderMailer, openSmtpMailer } from './index.ts';
import type { SmtpOptions } from './smtp.ts';

/** The mail server that services share; services that send e-mail spread these settings into theirs. */
export const mailServerSettings = {
  SMTP_HOST: text({ help: 'Mail server of all services that have none of their own' }),
  SMTP_PORT: integer({
    default: 587,
    min: 1,
    max: 65_535,
    help: 'Port of the mail server; 465 uses TLS from the start',
  }),
  SMTP_USERNAME: text({ help: 'User name at the mail server' }),
  SMTP_PASSWORD: text({ secret: true, help: 'Password at the mail server' }),
} satisfies Settings;

/** The setting `X_SMTP_INSECURE` of a service. */
export const insecureMailSetting = flag({
  default: false,
  help: 'Send to a remote mail server without TLS, or accept any certificate',
});

/** Credentials for a mail server; undefined if there are none. Refuses one without the other, by the names with this prefix. */
export function mailCredentials(
  { username, password }: { readonly username: string | undefined; readonly password: string | undefined },
  prefix = '',
): SmtpOptions['credentials'] {
  if (username === undefined && password === undefined) return undefined;
  const names = { username: `${prefix}SMTP_USERNAME`, password: `${prefix}SMTP_PASSWORD` };
  if (username === undefined)
    return rejectSettings({ [names.username]: `is required with ${names.password}` });
  if (password === undefined)
    return rejectSettings({ [names.password]: `is required with ${names.username}` });
  return { username, password };
}

/** The mailer of a service that uses the shared server; without one, mails go to `folder`. */
export async function openSharedMailer(
  { SMTP_HOST: host, SMTP_PORT: port, ...config }: Config<typeof mailServerSettings>,
  { folder, insecure }: { readonly folder: string; readonly insecure: boolean },
): Promise<Mailer> {
  if (host === undefined) return openFolderMailer({ folder });
  const credentials = mailCredentials({ username: config.SMTP_USERNAME, password: config.SMTP_PASSWORD });
  return openSmtpMailer({ host, port, credentials, insecure });
}

/** True if pages may show saved mails, which open accounts: never in production or to other machines. */
export function mayShowMails({ environment, host }: { environment: string; host: string }): boolean {
  return environment !== 'production' && isLoopback(host);
}
