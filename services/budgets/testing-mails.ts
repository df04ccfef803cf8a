import assert from 'node:assert/strict';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { listSavedMails } from '@octavo/mail';
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
  for (let waitedMs = 0; waitedMs < 10_000; waitedMs += 20) {
    const mails = await mailsTo(app, address);
    if (mails.length >= count) return mails.at(-1) ?? '';
    await delay(20);
  }
  return assert.fail(`no mail ${count} to ${address} within ten seconds`);
}

/** The token in the link of a mail. */
export function linkTokenOf(text: string): string {
  const [, token = ''] = /\?token=(\S+)/.exec(text) ?? [];
  return decodeURIComponent(token);
}
