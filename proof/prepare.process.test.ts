import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { suite, test } from 'node:test';
import { promisify } from 'node:util';
import { testFolder } from '@octavo/testing';

const script = join(import.meta.dirname, '../deploy/prepare.js');

suite('the end of an installation', () => {
  test('keeps what was compiled, and nothing else', async () => {
    const [cache, temporary] = [testFolder('cache'), testFolder('tmp')];
    const { stderr } = await prepare({ NODE_COMPILE_CACHE: cache, TMPDIR: temporary });
    assert.equal(stderr, '');
    assert.ok(readdirSync(cache, { recursive: true }).length > 500);
    assert.deepEqual(readdirSync(temporary), []);
  });

  test('takes no settings from the installing user', async () => {
    const environment = {
      NODE_COMPILE_CACHE: testFolder('cache'),
      DATABASE_URL: 'postgres://nobody.invalid/x',
    };
    assert.equal((await prepare(environment)).stderr, '');
  });

  test('goes on where nothing can be started', async () => {
    const bin = testFolder('bin');
    writeFileSync(join(bin, 'node'), '#!/bin/sh\nexit 3\n', { mode: 0o755 });
    const { stderr } = await prepare({ PATH: `${bin}${delimiter}${process.env.PATH}` });
    assert.equal(stderr, 'octavo: the compile cache was not filled: the process exited with 3\n');
  });

  test('goes on where nothing can be written', async () => {
    const { stderr } = await prepare({ TMPDIR: join(testFolder('tmp'), 'absent') });
    assert.match(stderr, /^octavo: the compile cache was not filled: ENOENT/);
  });
});

function prepare(environment: Record<string, string>) {
  const PATH = `${dirname(process.execPath)}${delimiter}${process.env.PATH}`;
  return promisify(execFile)(process.execPath, [script], { env: { PATH, ...environment } });
}
