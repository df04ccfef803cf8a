import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, open, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { parseArgs } from 'node:util';
import tar from 'tar-stream';
import { openDatabase } from '#kit/db/index.ts';
import { AppError } from '#kit/errors.ts';
import { databasesOf } from '../databases.ts';

/** Writes a tar of one consistent copy a database. The file appears only when it is whole. */
export async function run(args: string[]): Promise<number> {
  const { positionals } = parseArgs({ args, allowPositionals: true, options: {} });
  const [file] = positionals;
  if (!file) throw new AppError('invalid_input', 'usage: octavo backup FILE');
  const target = resolve(file);
  const folder = await mkdtemp(join(dirname(target), `.${basename(target)}-`));
  try {
    const draft = join(folder, 'backup.tar');
    const names = await writeBackup(draft, folder);
    await rename(draft, target);
    const { size } = await stat(target);
    process.stdout.write(`${file}: ${names.join(', ')}; ${size.toLocaleString('en')} bytes\n`);
    return 0;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function writeBackup(draft: string, folder: string): Promise<string[]> {
  const pack = tar.pack();
  const written = pipeline(pack, createWriteStream(draft, { mode: 0o600, flush: true }));
  const names: string[] = [];
  for (const options of await databasesOf([], process.env)) {
    await using database = await openDatabase(options);
    const copy = join(folder, options.name);
    await database.backup(copy);
    await addFile(pack, copy, `${options.name}.${database.dialect}`);
    await rm(copy);
    names.push(options.name);
  }
  pack.finalize();
  await written;
  await using whole = await open(draft, 'r+');
  await whole.sync();
  return names;
}

async function addFile(pack: tar.Pack, file: string, name: string): Promise<void> {
  const { size } = await stat(file);
  await pipeline(createReadStream(file), pack.entry({ name, size, mode: 0o600, mtime: new Date() }));
}
