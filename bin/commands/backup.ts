import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, open, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { parseArgs } from 'node:util';
import tar from 'tar-stream';
import { backupDatabase, type DatabaseOptions } from '#kit/db/index.ts';
import { AppError } from '#kit/errors.ts';
import { databasesOf } from '../databases.ts';

/** Writes a tar of one consistent copy of each SQLite database, and prints the commands that save and restore PostgreSQL. */
export async function run(args: string[]): Promise<number> {
  const { positionals } = parseArgs({ args, allowPositionals: true, options: {} });
  const [file] = positionals;
  if (!file) throw new AppError('invalid_input', 'usage: octavo backup FILE');
  const databases = await databasesOf([], process.env);
  const files = databases.filter(({ url }) => !url);
  if (files.length > 0) await writeArchive(file, files);
  for (const [url, schemas] of schemasByUrl(databases)) printCommands(file, url, schemas);
  return 0;
}

/** The archive appears under its name only when it is whole and on disk. */
async function writeArchive(file: string, databases: readonly DatabaseOptions[]): Promise<void> {
  const target = resolve(file);
  const folder = await mkdtemp(join(dirname(target), `.${basename(target)}-`));
  try {
    const draft = join(folder, 'backup.tar');
    const names = await packDatabases(draft, folder, databases);
    await rename(draft, target);
    const { size } = await stat(target);
    process.stdout.write(`${file}: ${names.join(', ')}; ${size.toLocaleString('en')} bytes\n`);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function packDatabases(
  draft: string,
  folder: string,
  databases: readonly DatabaseOptions[],
): Promise<string[]> {
  const pack = tar.pack();
  const written = pipeline(pack, createWriteStream(draft, { mode: 0o600, flush: true }));
  const names: string[] = [];
  for (const options of databases) {
    const copy = join(folder, options.name);
    if (!(await backupDatabase(options, copy))) continue;
    await addFile(pack, copy, `${options.name}.sqlite`);
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

/** The PostgreSQL schemas of the services, by the URL of their database. */
function schemasByUrl(databases: readonly DatabaseOptions[]): Map<string, string[]> {
  const schemas = new Map<string, string[]>();
  for (const { name, url } of databases) {
    if (url) schemas.set(url, [...(schemas.get(url) ?? []), name]);
  }
  return schemas;
}

function printCommands(file: string, url: string, schemas: readonly string[]): void {
  const dump = quote(`${file}.${schemas.join('-')}.pgdump`);
  const place = new URL(url);
  place.password = '';
  const database = `--dbname=${quote(place.href)}`;
  const selected = schemas.map((schema) => `--schema=${schema}`).join(' ');
  process.stdout.write(`PostgreSQL saves ${schemas.join(', ')} itself. Run this, with the password in PGPASSWORD or ~/.pgpass:
  pg_dump --format=custom ${selected} --extension='*' --file=${dump} ${database}
To restore them, stop the services and run:
  pg_restore --clean --if-exists --single-transaction --no-owner ${database} ${dump}
`);
}

/** A word for a POSIX shell. */
function quote(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
