import { parseArgs } from 'node:util';
import type { Environment } from '@octavo/core';
import { AppError } from '@octavo/core';
import { configOf } from '@octavo/data/service';
import { type MailQueueAdmin, openMailQueue, passwordless } from '@octavo/passwordless';
import { existingContextOf } from '../existing-data.ts';

type Status = 'pending' | 'sending' | 'sent' | 'failed';

interface Options {
  readonly id: string | undefined;
  readonly status: Status | undefined;
  readonly limit: number;
}

const statuses: readonly Status[] = ['pending', 'sending', 'sent', 'failed'];
const listedMax = 10_000;

const verbs: Readonly<Record<string, (queue: MailQueueAdmin, options: Options) => Promise<string>>> = {
  list: async (queue, { status, limit }) => {
    const mails = await queue.list({ status, limit });
    return mails.length === 0 ? 'no mails' : mails.map(line).join('\n');
  },
  retry: async (queue, { id }) => `${await queue.retry(id)} mails are due now`,
  purge: async (queue, { status }) => {
    if (status === 'sending')
      throw new AppError('invalid_input', 'mails that are being sent cannot be removed');
    return `${await queue.purge(status ? [status] : ['sent', 'failed'])} mails removed`;
  },
};

export async function run(args: string[], environment: Environment = process.env): Promise<number> {
  const { positionals, values } = parseArgs({
    args,
    allowPositionals: true,
    options: { status: { type: 'string' }, limit: { type: 'string', default: '50' } },
  });
  const [name = '', id] = positionals;
  const verb = verbs[name];
  if (!verb)
    throw new AppError('invalid_input', `octavo queue needs one of ${Object.keys(verbs).join(', ')}`);
  const options = { id, status: statusOf(values.status), limit: limitOf(values.limit) };
  const context = existingContextOf(passwordless, environment);
  await using opened = await openMailQueue(configOf(passwordless, environment), context);
  process.stdout.write(`${await verb(opened.queue, options)}\n`);
  return 0;
}

function statusOf(text: string | undefined): Status | undefined {
  const status = statuses.find((word) => word === text);
  if (text !== undefined && status === undefined)
    throw new AppError('invalid_input', `--status must be one of ${statuses.join(', ')}`);
  return status;
}

function limitOf(text: string): number {
  const limit = Number(text);
  if (!Number.isInteger(limit) || limit < 1 || limit > listedMax)
    throw new AppError('invalid_input', `--limit must be a whole number from 1 to ${listedMax}`);
  return limit;
}

function line(mail: Awaited<ReturnType<MailQueueAdmin['list']>>[number]): string {
  const { id, status, kind, recipient, attempts, last_error } = mail;
  const when =
    status === 'pending'
      ? `next ${iso(mail.next_try_at_ms)}`
      : iso(mail.finished_at_ms ?? mail.created_at_ms);
  const columns = [
    id,
    status.padEnd(7),
    when.padEnd(29),
    `${attempts}x`.padStart(3),
    kind.padEnd(10),
    recipient,
  ];
  return `${columns.join('  ')}${last_error === null ? '' : `\n      ${last_error}`}`;
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
