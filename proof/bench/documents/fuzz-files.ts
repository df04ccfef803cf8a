import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { mediaTypeOf } from '@octavo/documents';
import { tableWriters, testTables } from '@octavo/documents/testing';
import { mutated, randomFrom } from './mutations.ts';

/** A file that damaged copies are made of. */
interface Original {
  readonly name: string;
  readonly mediaType: string;
  readonly bytes: Uint8Array;
}

/** Larger files take most of the time, and find no more. */
const originalBytesMax = 300_000;

/** The files of a folder that are read, and small tables of our own in each format. */
export function originalsIn(folder: string): Original[] {
  const own = Object.entries(tableWriters).flatMap(([ending, write]) =>
    testTables.map((table, index) => ({ name: `table-${index}.${ending}`, bytes: write(table) })),
  );
  const others = readdirSync(folder)
    .sort()
    .filter((name) => {
      const about = statSync(join(folder, name));
      return about.isFile() && about.size <= originalBytesMax;
    })
    .map((name) => ({ name, bytes: new Uint8Array(readFileSync(join(folder, name))) }));
  return [...own, ...others].flatMap(({ name, bytes }) => {
    const mediaType = readTypeOf(name, bytes);
    return mediaType === undefined ? [] : [{ name, bytes, mediaType }];
  });
}

function readTypeOf(name: string, bytes: Uint8Array): string | undefined {
  try {
    return mediaTypeOf(name, bytes);
  } catch {
    return undefined;
  }
}

/** The damaged file of a number, which is the same for a seed and a folder. */
export function damagedFile(originals: readonly Original[], seed: number, index: number): Original {
  const random = randomFrom(Math.imul(seed, 0x9e3779b1) ^ index);
  const original = originals[Math.floor(random() * originals.length)] as Original;
  const others = originals.map(({ bytes }) => bytes);
  return { ...original, bytes: mutated(original.bytes, others, random) };
}
