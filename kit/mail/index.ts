import type { Mailer } from './mailer.ts';
import type { SmtpOptions } from './smtp-options.ts';

export { type FolderOptions, openFolderMailer } from './folder.ts';
export { type KeptMail, listKeptMails, readKeptMail } from './folder-reader.ts';
export { type Dkim, type Mail, MailError, type Mailer, type MailFault } from './mailer.ts';
export { parseSender, type Sender } from './sender.ts';
export type { SmtpOptions } from './smtp-options.ts';

/** Mails through a mail server. Its client is loaded only here. */
export async function openSmtpMailer(options: SmtpOptions): Promise<Mailer> {
  const { SmtpMailer } = await import('./smtp.ts');
  return new SmtpMailer(options);
}
