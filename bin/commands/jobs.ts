import { parseArgs } from 'node:util';
import type { Environment } from '#kit/config.ts';
import { AppError } from '#kit/errors.ts';
import { configOf } from '#kit/service.ts';
import { type JobDesk, openJobDesk, postsWorker } from '../../services/posts/service.ts';
import { contextFor } from '../../services/system.ts';

interface Options {
  readonly id: string | undefined;
  readonly limit: number;
}

const listedMax = 10_000;

const verbs: Readonly<Record<string, (desk: JobDesk, options: Options) => Promise<string>>> = {
  list: async (desk, { limit }) => {
    const jobs = await desk.dead(limit);
    return jobs.length === 0 ? 'no dead jobs' : jobs.map(line).join('\n');
  },
  retry: async (desk, { id }) => {
    if (id === undefined) throw new AppError('invalid_input', 'octavo jobs retry needs the id of a job');
    await desk.retry(id);
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
  const context = contextFor('posts', { environment });
  await using opened = await openJobDesk(configOf(postsWorker, environment), context);
  process.stdout.write(`${await verb(opened.desk, { id, limit })}\n`);
  return 0;
}

function limitOf(text: string): number {
  const limit = Number(text);
  if (!Number.isInteger(limit) || limit < 1 || limit > listedMax)
    throw new AppError('invalid_input', `--limit must be a whole number from 1 to ${listedMax}`);
  return limit;
}

function line({ id, kind, attempts, error, diedAtMs }: Awaited<ReturnType<JobDesk['dead']>>[number]): string {
  return `${id}  ${kind}  ${new Date(diedAtMs).toISOString()}  ${attempts}x\n      ${error}`;
}
