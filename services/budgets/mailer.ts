import { join } from 'node:path';
import { refuse } from '#kit/config.ts';
import { type Mailer, openFolderMailer, openSmtpMailer, parseSender, type Sender } from '#kit/mail/index.ts';
import type { ServiceContext } from '#kit/service.ts';
import type { BudgetsConfig } from './settings.ts';

const submissionPort = 587;

/** The sender of the mails. */
export function senderOf(config: BudgetsConfig): Sender {
  try {
    return parseSender(config.BUDGETS_MAIL_FROM);
  } catch (error) {
    return refuse({ BUDGETS_MAIL_FROM: (error as Error).message }) as never;
  }
}

/** The mail server if one is set, else a folder; in production only a folder that is set. */
export async function openMailer(config: BudgetsConfig, context: ServiceContext): Promise<Mailer> {
  const { SMTP_HOST: host, SMTP_USERNAME: username, SMTP_PASSWORD: password } = config;
  if (host === undefined) return openFolderMailer({ folder: folderOf(config, context) });
  if ((username === undefined) !== (password === undefined))
    refuse({ SMTP_USERNAME: 'and SMTP_PASSWORD belong together' });
  return openSmtpMailer({
    host,
    port: config.SMTP_PORT ?? submissionPort,
    credentials: username && password ? { username, password } : undefined,
    insecure: config.BUDGETS_SMTP_INSECURE,
  });
}

function folderOf(config: BudgetsConfig, { environment, dataFolder }: ServiceContext): string {
  if (config.BUDGETS_MAIL_FOLDER !== undefined) return config.BUDGETS_MAIL_FOLDER;
  if (environment === 'production')
    refuse({ SMTP_HOST: 'is required with NODE_ENV=production, to send mails (or BUDGETS_MAIL_FOLDER)' });
  return join(dataFolder, 'budgets-mails');
}
