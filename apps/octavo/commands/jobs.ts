import { parseArgs } from 'node:util';
import type { Environment } from '@octavo/core';
import { AppError } from '@octavo/core';
import { configOf } from '@octavo/data/service';
import { type DeadJobs, openDeadJobs, posts, postsWorker } from '@octavo/posts';
import { existingContextOf } from './existing-data.ts';

interface Options {
  readonly id: string | undefined;
  readonly limit: number;
}

const listedMax = 10_000;

const verbs: Readonly<Record<string, (jobs: DeadJobs, options: Options) => Promise<string>>> = {
  list: async (jobs, { limit }) => {
    const dead = await jobs.list(limit);
    return dead.length === 0 ? 'no dead jobs' : dead.map(line).join('\n');
  },
  retry: async (jobs, { id }) => {
    if (id === undefined) throw new AppError('invalid_input', 'octavo jobs retry needs the id of a job');
    await jobs.retry(id);
    return `${id} is queued again`;
  },
};

export async function run(args: string[], environment: Environment = process.env): Promise<number> {
  const { positionals, values } = parseArgs({
    args,
    allowPositionals: true,
    options: { limit: { type: 'string', default: '50' } },
  });
  const [name = '', id] = positionals;
  const verb = verbs[name];
  if (!verb) throw new AppError('invalid_input', `octavo jobs needs one of ${Object.keys(verbs).join(', ')}`);
  const limit = limitOf(values.limit);
  const context = existingContextOf(posts, environment);
  await using jobs = await openDeadJobs(configOf(postsWorker, environment), context);
  process.stdout.write(`${await verb(jobs, { id, limit })}\n`);
  return 0;
}

function limitOf(text: string): number {
  const limit = Number(text);
  if (!Number.isInteger(limit) || limit < 1 || limit > listedMax)
    throw new AppError('invalid_input', `--limit must be a whole number from 1 to ${listedMax}`);
  return limit;
}

function line({
  id,
  kind,
  attempts,
  error,
  diedAtMs,
}: Awaited<ReturnType<DeadJobs['list']>>[number]): string {
  return `${id}  ${kind}  ${new Date(diedAtMs).toISOString()}  ${attempts}x\n      ${error}`;
}
