import type { Mailer } from './mailer.ts';
import type { SmtpOptions } from './smtp.ts';

export { type FolderOptions, openFolderMailer } from './folder.ts';
export { listSavedMails, readSavedMail, type SavedMail } from './folder-list.ts';
export {
  type Dkim,
  type Mail,
  MailError,
  type Mailer,
  type MailFault,
  parseSender,
  type Sender,
} from './mailer.ts';
export type { SmtpOptions } from './smtp.ts';

/** Opens a mailer that uses an SMTP server. The client is loaded only here. */
export async function openSmtpMailer(options: SmtpOptions): Promise<Mailer> {
  const { SmtpMailer } = await import('./smtp.ts');
  return new SmtpMailer(options);
}
