import { createReadStream, createWriteStream } from 'node:fs';
import { copyFile, mkdir, mkdtemp, rename, rm, utimes } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { parseArgs } from 'node:util';
import { AppError, describeSystemError } from '@octavo/core';
import { claimFolder, type DatabaseOptions, moveDatabase, restoreDatabase } from '@octavo/data';
import tar from 'tar-stream';
import { readSuite } from '../../index.ts';
import { describeFiles, differ, isBackupFile } from './backup-files.ts';
import { databasesOf } from './databases.ts';

interface Unpacked {
  readonly databases: {
    readonly options: DatabaseOptions;
    readonly copy: string;
    readonly isSqlite: boolean;
  }[];
  /** Files by their names in the data folder. */
  readonly files: { readonly name: string; readonly copy: string; readonly modified: Date }[];
}

export async function run(args: string[]): Promise<number> {
  const { positionals, values } = parseArgs({
    args,
    allowPositionals: true,
    options: { force: { type: 'boolean', default: false } },
  });
  const [file] = positionals;
  if (!file) throw new AppError('invalid_input', 'usage: octavo restore FILE [--force]');
  const { OCTAVO_DATA: dataFolder } = readSuite(process.env);
  using _claim = claimFolder(dataFolder);
  const folder = await mkdtemp(join(dataFolder, '.restore-'));
  try {
    const unpacked = await unpack(file, folder);
    if (!values.force) await refuseOtherFiles(unpacked, dataFolder);
    await restore(unpacked, { dataFolder, overwrite: values.force });
    return 0;
  } catch (error) {
    throw describeSystemError(error, dataFolder) ?? error;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Unpacks the file and checks that each part has a place of its kind here, before anything is changed. */
async function unpack(file: string, folder: string): Promise<Unpacked> {
  const unpacked: Unpacked = { databases: [], files: [] };
  try {
    for await (const entry of entriesOf(file)) {
      const { name: part, mtime = new Date() } = entry.header;
      const copy = join(folder, String(unpacked.databases.length + unpacked.files.length));
      const name = await fileNameOf(part);
      if (name === undefined)
        unpacked.databases.push({ options: await targetOf(part), copy, isSqlite: part.endsWith('.sqlite') });
      else unpacked.files.push({ name, copy, modified: mtime });
      await pipeline(entry, createWriteStream(copy, { mode: 0o600, flush: true }));
    }
  } catch (error) {
    if (error instanceof AppError) throw error;
    const problem = describeSystemError(error, folder);
    if (problem) throw problem;
    throw new AppError('invalid_input', `${file} cannot be read as a backup: ${(error as Error).message}`);
  }
  if (unpacked.databases.length + unpacked.files.length === 0)
    throw new AppError('invalid_input', `${file} is not a backup: it holds nothing to restore`);
  return unpacked;
}

/** The name in the data folder of a part that is no database. */
async function fileNameOf(part: string): Promise<string | undefined> {
  if (!part.startsWith('files/')) return undefined;
  const name = part.slice('files/'.length);
  if (await isBackupFile(name)) return name;
  throw new AppError('invalid_input', `the backup holds "${name}", which no service here has`);
}

/** Databases of either kind go to PostgreSQL, those of SQLite to files. */
async function targetOf(part: string): Promise<DatabaseOptions> {
  const [name, dialect] = part.split('.');
  const options = (await databasesOf([], process.env)).find((database) => database.name === name);
  if (!options) throw new AppError('invalid_input', `the backup holds "${part}", which no service here has`);
  if (dialect !== 'sqlite' && !options.url) {
    throw new AppError(
      'invalid_input',
      `the backup of ${name} is of PostgreSQL: set DATABASE_URL, and bring it to files afterwards with octavo move`,
    );
  }
  return options;
}

/** Refuses a folder with other secrets, since either its data or the backup's could not be read. */
async function refuseOtherFiles({ files }: Unpacked, dataFolder: string): Promise<void> {
  const others = [];
  for (const { name, copy } of files) if (await differ(copy, join(dataFolder, name))) others.push(name);
  if (others.length === 0) return;
  throw new AppError(
    'conflict',
    `${dataFolder} has another ${others.join(', ')} than the backup. Restore into an empty folder (OCTAVO_DATA), or ${forceHelp}`,
  );
}

const forceHelp =
  'run the command with --force to replace what is there; what was signed or encrypted with a replaced secret is lost';

/** Everything that takes space is done before the first database changes, so that only renames can fail afterwards. */
async function restore(
  { databases, files }: Unpacked,
  { dataFolder, overwrite }: { dataFolder: string; overwrite: boolean },
): Promise<void> {
  const places = files.map((file) => placeOf(dataFolder, file.name));
  try {
    for (const [index, { copy, modified }] of files.entries()) {
      const { draft } = places[index] as Place;
      await mkdir(dirname(draft), { recursive: true, mode: 0o700 });
      await copyFile(copy, draft);
      await utimes(draft, modified, modified);
    }
    for (const database of databases) {
      const { options } = database;
      await restoreOne(database, overwrite);
      process.stdout.write(`${options.name.padEnd(12)} restored\n`);
    }
    for (const { draft, target } of places) await rename(draft, target);
  } finally {
    for (const { draft } of places) await rm(draft, { force: true });
  }
  for (const line of describeFiles(files.map(({ name }) => name))) process.stdout.write(`${line} restored\n`);
  if (files.length === 0) process.stdout.write(withoutSecrets);
}

const withoutSecrets =
  'This backup holds no secrets. Authenticator apps and sign-ins go on only with those of the folder or settings that it was made from.\n';

interface Place {
  readonly target: string;
  /** Draft beside the folder, so that it can be renamed. */
  readonly draft: string;
}

function placeOf(dataFolder: string, name: string): Place {
  const target = join(dataFolder, name);
  return { target, draft: join(dirname(target), `.${basename(target)}.restored`) };
}

async function restoreOne(
  { options, copy: file, isSqlite }: Unpacked['databases'][number],
  overwrite: boolean,
): Promise<void> {
  const { url } = options;
  const place = { folder: dirname(file), fileName: basename(file) };
  try {
    if (url && isSqlite) {
      const server = options.directUrl ?? url;
      await moveDatabase('postgres', { ...options, ...place, url: server, overwrite });
    } else await restoreDatabase({ ...options, file, overwrite });
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'conflict') throw error;
    throw new AppError('conflict', `${error.message}. Restore into an empty folder, or ${forceHelp}`);
  }
}

/** An error of the file must end the entries too; `pipe` alone would leave them waiting. */
function entriesOf(file: string): tar.Extract {
  const extract = tar.extract();
  pipeline(createReadStream(file), extract).catch((error: Error) => extract.destroy(error));
  return extract;
}
