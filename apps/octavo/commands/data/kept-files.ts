import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError } from '@octavo/core';
import { loadServices } from '../../index.ts';
import { backupFilesIn, describeFiles, differ } from './backup-files.ts';

/** Names of secrets and objects in a data folder, for people. */
export async function listKeptFiles(dataFolder: string): Promise<string> {
  return describeFiles(await backupFilesIn(dataFolder)).join(', ');
}

/** Copies secrets and objects of a data folder to another. Throws `conflict` where that has others. */
export async function copyKeptFiles(dataFolder: string, folder: string): Promise<void> {
  const names = await backupFilesIn(dataFolder);
  for (const name of names) {
    const [from, to] = [join(dataFolder, name), join(folder, name)];
    if (await differ(from, to))
      throw new AppError('conflict', `${folder} has another ${name} than ${dataFolder}`);
    await cp(from, to, { preserveTimestamps: true });
  }
  for (const line of describeFiles(names)) process.stdout.write(`${line} copied\n`);
}

/** Writes the secrets that services keep in files as settings, for machines that share no folder. */
export async function writeSecrets(dataFolder: string, file: string): Promise<void> {
  const lines: string[] = [];
  for (const { keptSecrets = {} } of await loadServices()) {
    for (const [setting, name] of Object.entries(keptSecrets)) {
      if (process.env[setting]) continue;
      const secret = await readFile(join(dataFolder, name), 'utf8').catch(() => undefined);
      if (secret !== undefined) lines.push(`${setting}=${secret.trim()}`);
    }
  }
  await writeFile(file, `${lines.join('\n')}\n`, { mode: 0o600, flag: 'wx' });
  process.stdout.write(`${file}: ${lines.map((line) => line.split('=')[0]).join(', ')}\n`);
}
