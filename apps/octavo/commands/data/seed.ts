import { parseArgs } from 'node:util';
import { AppError } from '@octavo/core';
import { type Loaded, seeds } from '../../index.ts';

export async function run(args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { count: { type: 'string', default: '5000' }, force: { type: 'boolean', default: false } },
  });
  const count = Number(values.count);
  if (!Number.isInteger(count) || count < 1 || count > 10_000_000) {
    throw new AppError('invalid_input', '--count must be a whole number from 1 to 10000000');
  }
  const names = positionals.length > 0 ? positionals : Object.keys(seeds);
  for (const name of names) {
    const seed = seeds[name];
    if (name === 'tokens')
      throw new AppError('invalid_input', 'tokens keeps its accounts in memory, so there is nothing to load');
    if (!seed)
      throw new AppError(
        'invalid_input',
        `there is no demo data for "${name}"; there is for ${Object.keys(seeds)}`,
      );
    const loaded = await seed(process.env, {
      count,
      isForced: values.force,
      onProgress: (done) => show(name, done, count),
    });
    process.stdout.write(`${name}: ${textOf(loaded)}\n`);
  }
  return 0;
}

function textOf(loaded: Loaded | undefined): string {
  if (loaded === undefined)
    return 'nothing loaded, because it holds data of your own; --force adds demo data beside it';
  return loaded.count === 0 ? 'nothing to load, the demo data is there' : `${loaded.text} loaded`;
}

function show(name: string, done: number, count: number): void {
  if (!process.stderr.isTTY) return;
  const filled = Math.round((done / count) * 30);
  const bar = `${'█'.repeat(filled)}${'·'.repeat(30 - filled)}`;
  process.stderr.write(
    `\r${name} ${bar} ${done.toLocaleString('en')} of ${count.toLocaleString('en')}${done >= count ? '\n' : ''}`,
  );
}
