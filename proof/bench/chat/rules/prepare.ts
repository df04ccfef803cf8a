import { existsSync, mkdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import type { RealSet } from '../real/grades.ts';
import { storeLibrary } from '../real/stored.ts';

/** Uploads the documents of each set to a chat of its own, whose data stays in a folder by the name of the set. */
export async function prepareLibraries(
  libraries: string,
  packages: string,
  sets: readonly RealSet[],
): Promise<void> {
  mkdirSync(libraries, { recursive: true });
  for (const set of sets) {
    const folder = join(libraries, set);
    if (existsSync(folder)) continue;
    const unfinished = `${folder}.unfinished`;
    await storeLibrary(unfinished, packages, set);
    renameSync(unfinished, folder);
  }
}
