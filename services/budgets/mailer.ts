import { join } from 'node:path';
import { refuse, rejectSettings } from '@octavo/core';
import { PermanentJobError } from '@octavo/data/jobs';
import type { CheckContext, ServiceContext } from '@octavo/data/service';
import { MailError, type Mailer, parseSender, type Sender } from '@octavo/mail';
import { openSharedMailer } from '@octavo/mail/settings';
import { html } from '@octavo/web/html';
import type { BudgetsConfig } from './settings.ts';

/** The sender of the mails. */
export function senderOf(config: BudgetsConfig): Sender {
  try {
    return parseSender(config.BUDGETS_MAIL_FROM);
  } catch (error) {
    return rejectSettings({ BUDGETS_MAIL_FROM: (error as Error).message });
  }
}

/** A mail to one person. */
export interface PlainMail {
  /** Equal in each attempt, so that mail programs recognize a second one. */
  readonly id: string;
  readonly to: string;
  readonly subject: string;
  readonly date: Date;
  /** Paragraphs before the link, the link, and paragraphs after it. */
  readonly before: readonly string[];
  readonly link: string;
  readonly after: readonly string[];
}

/** Sends a mail as text and HTML. Throws `PermanentJobError` if the mail server rejects it for good. */
export async function sendMail(
  { mailer, sender }: { readonly mailer: Mailer; readonly sender: Sender },
  { id, to, subject, date, before, link, after }: PlainMail,
  signal: AbortSignal,
): Promise<void> {
  const paragraphs = (lines: readonly string[]) => lines.map((line) => html`<p>${line}</p>`);
  const mail = {
    id: `${id}@${sender.address.slice(sender.address.lastIndexOf('@') + 1)}`,
    from: sender,
    to,
    subject,
    date,
    text: `${[...before, link, ...after].join('\n\n')}\n`,
    html: String(html`${paragraphs(before)}<p><a href="${link}">${link}</a></p>${paragraphs(after)}`),
  };
  try {
    await mailer.send(mail, { signal });
  } catch (error) {
    if (error instanceof MailError && error.fault === 'rejected')
      throw new PermanentJobError(error.message, { cause: error });
    throw error;
  }
}

/** Refuses, in production, mails that reach no one, and mails to people that lead to the address this process listens on. */
export function checkMails(
  { SMTP_HOST, BUDGETS_MAIL_FOLDER, BUDGETS_PUBLIC_URL }: BudgetsConfig,
  { environment }: CheckContext,
): void {
  if (environment !== 'production') return;
  const isUnsent = SMTP_HOST === undefined && BUDGETS_MAIL_FOLDER === undefined;
  const lacksUrl = BUDGETS_PUBLIC_URL === undefined && (isUnsent || SMTP_HOST !== undefined);
  refuse({
    ...(isUnsent && {
      SMTP_HOST: 'is required with NODE_ENV=production, to send mails (or BUDGETS_MAIL_FOLDER)',
    }),
    ...(lacksUrl && { BUDGETS_PUBLIC_URL: 'is required with NODE_ENV=production, for links in mails' }),
  });
}

/** The mail server if one is set, else a folder; in production only a folder that is set. */
export async function openMailer(config: BudgetsConfig, context: ServiceContext): Promise<Mailer> {
  const folder = config.BUDGETS_MAIL_FOLDER ?? join(context.dataFolder, 'budgets-mails');
  const isSent = config.SMTP_HOST !== undefined;
  return openSharedMailer(config, { folder: isSent ? '' : folder, insecure: config.BUDGETS_SMTP_INSECURE });
}
