import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, open, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { parseArgs } from 'node:util';
import type { Environment } from '@octavo/core';
import { AppError, describeSystemError } from '@octavo/core';
import { backupDatabase, type DatabaseOptions } from '@octavo/data';
import tar from 'tar-stream';
import { loadServices, readSuite } from '../../index.ts';
import { settingsOf } from '../config.ts';
import { backupFilesIn, describeFiles } from './backup-files.ts';
import { databasesOf } from './databases.ts';

/**
 * Writes a tar of one consistent copy of each SQLite database, of kept secrets and of stored objects, and prints the commands that
 * save and restore PostgreSQL.
 */
export async function run(args: string[]): Promise<number> {
  const { positionals } = parseArgs({ args, allowPositionals: true, options: {} });
  const [file] = positionals;
  if (!file) throw new AppError('invalid_input', 'usage: octavo backup FILE');
  const databases = await databasesOf([], process.env);
  await writeArchive(
    file,
    databases.filter(({ url }) => !url),
  );
  for (const [url, schemas] of schemasByUrl(databases)) printCommands(file, url, schemas);
  const secrets = await givenSecrets(process.env);
  if (secrets.length > 0) {
    process.stdout.write(`Save these settings too, the backup does not hold them: ${secrets.join(', ')}\n`);
  }
  return 0;
}

/** The archive appears under its name only when it is whole and on disk. Without anything to save there is none. */
async function writeArchive(file: string, databases: readonly DatabaseOptions[]): Promise<void> {
  const target = resolve(file);
  const folder = await mkdtemp(join(dirname(target), `.${basename(target)}-`));
  try {
    const draft = join(folder, 'backup.tar');
    const packed = await packAll(draft, folder, databases);
    if (packed.databases.length + packed.files.length === 0) return;
    await rename(draft, target);
    const { size } = await stat(target);
    const held = [
      ...(packed.databases.length > 0 ? [`databases ${packed.databases.join(', ')}`] : []),
      ...(packed.files.length > 0 ? [`files ${describeFiles(packed.files).join(', ')}`] : []),
    ];
    process.stdout.write(`${file}: ${held.join('; ')}; ${size.toLocaleString('en')} bytes\n`);
    if (packed.files.length > 0)
      process.stdout.write('It holds secrets: keep it as safe as the data folder.\n');
  } catch (error) {
    throw describeSystemError(error, target) ?? error;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function packAll(draft: string, folder: string, databases: readonly DatabaseOptions[]) {
  const pack = tar.pack();
  const written = pipeline(pack, createWriteStream(draft, { mode: 0o600, flush: true }));
  // Without this, an early error of the file would be an unhandled rejection.
  written.catch(() => {});
  const names = await packDatabases(pack, folder, databases);
  // After the databases: a secret is older than the first row that needs it.
  const files = await packFiles(pack, readSuite(process.env).OCTAVO_DATA);
  pack.finalize();
  await written;
  await using whole = await open(draft, 'r+');
  await whole.sync();
  return { databases: names, files };
}

async function packDatabases(
  pack: tar.Pack,
  folder: string,
  databases: readonly DatabaseOptions[],
): Promise<string[]> {
  const names: string[] = [];
  for (const options of databases) {
    const copy = join(folder, options.name);
    if (!(await backupDatabase(options, copy))) continue;
    await addFile(pack, copy, `${options.name}.sqlite`);
    await rm(copy);
    names.push(options.name);
  }
  return names;
}

async function packFiles(pack: tar.Pack, dataFolder: string): Promise<string[]> {
  const names = await backupFilesIn(dataFolder);
  for (const name of names) await addFile(pack, join(dataFolder, name), `files/${name}`);
  return names;
}

async function addFile(pack: tar.Pack, file: string, name: string): Promise<void> {
  const { size, mtime } = await stat(file);
  await pipeline(createReadStream(file), pack.entry({ name, size, mode: 0o600, mtime }));
}

/** The names of the secrets that are given by settings, so that no file of the data folder holds them. */
async function givenSecrets(environment: Environment): Promise<string[]> {
  const services = await loadServices();
  const given = settingsOf(services).flatMap(([title, settings]) => {
    const service = services.find(({ name }) => name === title);
    const values = service?.sources?.(environment) ?? environment;
    return Object.entries(settings)
      .filter(([name, { secret }]) => secret && (values[name] || values[`${name}_FILE`]))
      .map(([name]) => name);
  });
  return [...new Set(given)];
}

/** The PostgreSQL schemas of the services, by the URL of their database. */
function schemasByUrl(databases: readonly DatabaseOptions[]): Map<string, string[]> {
  const schemas = new Map<string, string[]>();
  for (const { name, url, directUrl } of databases) {
    const server = url && (directUrl ?? url);
    if (server) schemas.set(server, [...(schemas.get(server) ?? []), name]);
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
