import { mkdir } from 'node:fs/promises';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { AppError, describeSystemError } from '@octavo/core';
import { createLog } from '@octavo/core/log';
import {
  claimFolder,
  type DatabaseOptions,
  hasDatabase,
  type MoveProgress,
  type MoveResult,
  moveDatabase,
  problemOfUrl,
} from '@octavo/data';
import { readSuite } from '../../index.ts';
import { databasesOf } from './databases.ts';
import { copyKeptFiles, listKeptFiles, writeSecrets } from './kept-files.ts';
import { moveObjects } from './move-objects.ts';

const usage = 'usage: octavo move --to postgres://USER@HOST/DATABASE | FOLDER';

/** Copies everything that services keep in the data folder to PostgreSQL, or back to a folder. */
export async function run(args: string[]): Promise<number> {
  const { values } = parseArgs({
    args,
    options: {
      to: { type: 'string' },
      objects: { type: 'string' },
      secrets: { type: 'string' },
      'replace-nul': { type: 'boolean', default: false },
      force: { type: 'boolean', default: false },
    },
  });
  if (!values.to) throw new AppError('invalid_input', usage);
  const { OCTAVO_DATA: dataFolder } = readSuite(process.env);
  const isUrl = values.to.includes('://');
  const problem = isUrl && problemOfUrl(values.to);
  if (problem) throw new AppError('invalid_input', `--to ${problem}, or a folder`);
  const databases = await sourcesOf(isUrl ? 'postgres' : 'sqlite');
  const options = { overwrite: values.force, replacesNul: values['replace-nul'] };
  using _claim = claimFolder(dataFolder);
  try {
    if (isUrl) {
      const url = values.to;
      await moveAll(
        'postgres',
        databases.map((database) => ({ ...database, ...options, url })),
      );
    } else {
      const folder = resolve(values.to);
      await moveToFolder(
        databases.map((database) => ({ ...database, ...options, folder })),
        { folder, dataFolder },
      );
    }
    await moveRest(values, { dataFolder, isUrl });
    return 0;
  } catch (error) {
    throw describeSystemError(error, dataFolder) ?? error;
  }
}

type Move = Parameters<typeof moveDatabase>[1];

/** The databases that are of the other kind. */
async function sourcesOf(to: 'sqlite' | 'postgres'): Promise<(DatabaseOptions & { url: string })[]> {
  const log = createLog({ service: 'move', level: 'warn' });
  const databases = await databasesOf([], process.env, log);
  const found = databases.filter((database) =>
    to === 'postgres' ? !database.url && hasDatabase(database) : database.url,
  );
  if (found.length > 0)
    return found.map((database) => ({ ...database, url: database.directUrl ?? database.url ?? '' }));
  throw new AppError(
    'not_found',
    to === 'postgres'
      ? `there is no SQLite database in ${readSuite(process.env).OCTAVO_DATA} (--data), or DATABASE_URL is set: then the data is in PostgreSQL already`
      : 'DATABASE_URL is not set, so the data is in files already: octavo backup and octavo restore bring them elsewhere',
  );
}

async function moveToFolder(
  moves: readonly Move[],
  { folder, dataFolder }: { folder: string; dataFolder: string },
): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  using _claim = folder === resolve(dataFolder) ? undefined : claimFolder(folder);
  await moveAll('sqlite', moves);
  if (folder !== resolve(dataFolder)) await copyKeptFiles(dataFolder, folder);
}

async function moveAll(to: 'sqlite' | 'postgres', moves: readonly Move[]): Promise<void> {
  for (const move of moves) {
    const onProgress = createProgress(move.name);
    const result = await moveDatabase(to, { ...move, onProgress }).catch((error: unknown) => {
      if (!(error instanceof AppError) || error.code !== 'conflict' || move.overwrite) throw error;
      throw new AppError('conflict', `${error.message}. --force replaces what the target holds`);
    });
    clearProgress();
    report(move.name, result);
  }
}

/** Objects and secrets, which are not in databases. */
async function moveRest(
  { objects, secrets }: { objects?: string | undefined; secrets?: string | undefined },
  { dataFolder, isUrl }: { dataFolder: string; isUrl: boolean },
): Promise<void> {
  if (objects !== undefined) await moveObjects(objects, dataFolder);
  if (secrets !== undefined) await writeSecrets(dataFolder, secrets);
  if (!isUrl) return print('Start the services without DATABASE_URL, on that folder.');
  const kept = await listKeptFiles(dataFolder);
  if (kept !== '' && secrets === undefined) {
    print(
      `These are still in ${dataFolder}, and services need them: ${kept}. --secrets FILE writes secrets as settings`,
    );
  }
  print('Set DATABASE_URL and start the services. The files of SQLite are as they were.');
}

function report(name: string, { tables, isNew }: MoveResult): void {
  for (const table of tables) {
    const rows = table.rows.toLocaleString('en').padStart(12);
    print(`${`${name}.${table.name}`.padEnd(40)} ${rows} ${table.sha256.slice(0, 16)} same on both sides`);
  }
  print(`${name}: ${isNew ? 'moved' : 'was there already'}`);
}

const showEveryMs = 200;

function createProgress(name: string): (progress: MoveProgress) => void {
  let shownMs = 0;
  return ({ step, table, rows }) => {
    if (!process.stderr.isTTY || performance.now() - shownMs < showEveryMs) return;
    shownMs = performance.now();
    process.stderr.write(`\r\x1b[K${name}: ${step} ${table}, ${rows.toLocaleString('en')} rows`);
  };
}

function clearProgress(): void {
  if (process.stderr.isTTY) process.stderr.write('\r\x1b[K');
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
