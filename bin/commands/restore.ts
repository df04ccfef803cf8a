import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { parseArgs } from 'node:util';
import tar from 'tar-stream';
import { type DatabaseOptions, restoreDatabase } from '#kit/db/index.ts';
import { AppError } from '#kit/errors.ts';
import { databasesOf } from '../databases.ts';

export async function run(args: string[]): Promise<number> {
  const { positionals, values } = parseArgs({
    args,
    allowPositionals: true,
    options: { force: { type: 'boolean', default: false } },
  });
  const [file] = positionals;
  if (!file) throw new AppError('invalid_input', 'usage: octavo restore FILE [--force]');
  const folder = await mkdtemp(join(tmpdir(), 'octavo-restore-'));
  try {
    const targets = await unpack(file, folder);
    for (const { options, copy } of targets) {
      await restoreDatabase({ ...options, file: copy, overwrite: values.force });
      process.stdout.write(`${options.name.padEnd(12)} restored\n`);
    }
    return 0;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Unpacks the file and checks that each part has a database of its kind here, before anything is changed. */
async function unpack(file: string, folder: string): Promise<{ options: DatabaseOptions; copy: string }[]> {
  const targets = [];
  try {
    for await (const entry of entriesOf(file)) {
      const options = await targetOf(entry.header.name);
      const copy = join(folder, options.name);
      await pipeline(entry, createWriteStream(copy, { mode: 0o600 }));
      targets.push({ options, copy });
    }
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw new AppError('invalid_input', `${file} cannot be read as a backup: ${(error as Error).message}`);
  }
  if (targets.length === 0)
    throw new AppError('invalid_input', `${file} is not a backup: it contains no database`);
  return targets;
}

async function targetOf(part: string): Promise<DatabaseOptions> {
  const [name, dialect] = part.split('.');
  const options = (await databasesOf([], process.env)).find((database) => database.name === name);
  if (!options) throw new AppError('invalid_input', `the backup holds "${part}", which no service here has`);
  if (dialect !== (options.url ? 'postgres' : 'sqlite')) {
    throw new AppError(
      'invalid_input',
      `the backup of ${name} is of ${dialect}, but DATABASE_URL says otherwise`,
    );
  }
  return options;
}

/** An error of the file must end the entries too; `pipe` alone would leave them waiting. */
function entriesOf(file: string): tar.Extract {
  const extract = tar.extract();
  pipeline(createReadStream(file), extract).catch((error: Error) => extract.destroy(error));
  return extract;
}
