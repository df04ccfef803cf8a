import { once } from 'node:events';
import { parseArgs } from 'node:util';
import type { Environment } from '@octavo/core';
import { AppError } from '@octavo/core';
import { existingContextOf } from '../existing-data.ts';

/** `octavo export`. */
export async function run(args: string[], environment: Environment = process.env): Promise<number> {
  const { positionals, values } = parseArgs({
    args,
    allowPositionals: true,
    options: { votes: { type: 'boolean', default: false } },
  });
  const [service, id = ''] = positionals;
  if (service !== 'polls' || !/^\d{1,15}$/.test(id))
    throw new AppError('invalid_input', 'usage: octavo export polls ID [--votes]');
  const { exportResults, exportVotes, openPolls, polls } = await import('@octavo/polls');
  await using database = await openPolls(environment, existingContextOf(polls, environment));
  const lines = values.votes ? exportVotes(database, Number(id)) : exportResults(database, Number(id));
  for await (const text of lines) {
    if (!process.stdout.write(text)) await once(process.stdout, 'drain');
  }
  return 0;
}
