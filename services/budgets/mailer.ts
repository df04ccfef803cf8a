import { join } from 'node:path';
import { refuse, rejectSettings } from '@octavo/core';
import type { CheckContext, ServiceContext } from '@octavo/data/service';
import { type Mailer, parseSender, type Sender } from '@octavo/mail';
import { openSharedMailer } from '@octavo/mail/settings';
import type { BudgetsConfig } from './settings.ts';

/** The sender of the mails. */
export function senderOf(config: BudgetsConfig): Sender {
  try {
    return parseSender(config.BUDGETS_MAIL_FROM);
  } catch (error) {
    return rejectSettings({ BUDGETS_MAIL_FROM: (error as Error).message });
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
