import { join } from 'node:path';
import { listSavedMails } from '@octavo/mail';
import { until } from '@octavo/testing';
import type { TestBudgets } from './testing.ts';

/** The texts of the mails to an address that were saved, oldest first. */
export async function mailsTo(app: Pick<TestBudgets, 'folder'>, address: string): Promise<string[]> {
  const mails = await listSavedMails(join(app.folder, 'budgets-mails'), 500);
  return mails
    .filter(({ to }) => to === address)
    .map(({ text }) => text)
    .reverse();
}

/** The newest mail to an address, once `count` have come. */
export async function nextMail(
  app: Pick<TestBudgets, 'folder'>,
  address: string,
  count = 1,
): Promise<string> {
  const mails = await until(async () => {
    const found = await mailsTo(app, address);
    return found.length >= count && found;
  });
  return mails.at(-1) ?? '';
}

/** The token in the link of a mail. */
export function linkTokenOf(text: string): string {
  const [, token = ''] = /\?token=(\S+)/.exec(text) ?? [];
  return decodeURIComponent(token);
}
