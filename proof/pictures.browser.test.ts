import assert from 'node:assert/strict';
import { globSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, test } from 'node:test';
import { testFolder } from '@octavo/testing';
import { testBrowser } from '@octavo/testing/browser';
import { upNames } from '../apps/octavo/index.ts';
import { fileOf, folder, pages, schemes, takePictures } from './pictures.ts';

const bytesMax = 1.5 * 1024 ** 2;
const files = Object.keys(pages).flatMap((name) => schemes.map((scheme) => fileOf(name, scheme)));

describe('the pictures in the README', () => {
  test('are of every service, in light and dark, and small', () => {
    assert.deepEqual(Object.keys(pages), upNames());
    const paths = globSync('*.png', { cwd: folder });
    assert.deepEqual(paths.toSorted(), files.toSorted());
    const sizes = files.map((file) => statSync(join(folder, file)).size);
    assert.ok(Math.min(...sizes) > 5_000);
    assert.ok(sizes.reduce((sum, size) => sum + size) < bytesMax);
    const readme = readFileSync(join(import.meta.dirname, '../README.md'), 'utf8');
    for (const file of files) assert.ok(readme.includes(`docs/pictures/${file}`), file);
  });

  test('can be taken of the pages of today', { skip: testBrowser().skip, timeout: 200_000 }, async () => {
    const taken = testFolder('pictures');
    await takePictures(taken);
    const found = globSync('*.png', { cwd: taken }).map((file) => basename(file));
    assert.deepEqual(found.toSorted(), files.toSorted());
  });
});
