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

/** Refuses production mails to people that lead to the address this process listens on. */
export function checkPublicUrl(
  { SMTP_HOST, BUDGETS_PUBLIC_URL }: BudgetsConfig,
  { environment }: CheckContext,
): void {
  if (environment === 'production' && SMTP_HOST !== undefined && BUDGETS_PUBLIC_URL === undefined)
    refuse({ BUDGETS_PUBLIC_URL: 'is required with NODE_ENV=production and SMTP_HOST, for links in mails' });
}

/** The mail server if one is set, else a folder; in production only a folder that is set. */
export async function openMailer(config: BudgetsConfig, context: ServiceContext): Promise<Mailer> {
  const folder = config.SMTP_HOST === undefined ? folderOf(config, context) : '';
  return openSharedMailer(config, { folder, insecure: config.BUDGETS_SMTP_INSECURE });
}

function folderOf(config: BudgetsConfig, { environment, dataFolder }: ServiceContext): string {
  if (config.BUDGETS_MAIL_FOLDER !== undefined) return config.BUDGETS_MAIL_FOLDER;
  if (environment === 'production')
    refuse({ SMTP_HOST: 'is required with NODE_ENV=production, to send mails (or BUDGETS_MAIL_FOLDER)' });
  return join(dataFolder, 'budgets-mails');
}
