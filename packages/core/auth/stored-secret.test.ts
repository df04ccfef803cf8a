import assert from 'node:assert/strict';
import { readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { testFolder } from '@octavo/testing';
import { storedSecret } from './stored-secret.ts';

const folder = testFolder('stored-secret');

test('a secret is created once, also by processes that start at once, and only its owner can read it', async () => {
  const file = join(folder, 'shared');
  const secrets = await Promise.all(Array.from({ length: 20 }, () => storedSecret(file)));
  assert.equal(new Set(secrets).size, 1);
  assert.equal(await storedSecret(file), secrets[0]);
  assert.match(secrets[0] as string, /^[\w-]{43}$/);
  assert.equal((await stat(file)).mode & 0o777, 0o600);
  assert.deepEqual(await readdir(folder), ['shared']);
});

test('two files have different secrets', async () => {
  assert.notEqual(await storedSecret(join(folder, 'one')), await storedSecret(join(folder, 'other')));
});

test('an existing secret is used', async () => {
  const file = join(folder, 'given');
  await writeFile(file, 'of my own making\n');
  assert.equal(await storedSecret(file), 'of my own making');
});

test('a missing folder is an error', async () => {
  await assert.rejects(storedSecret(join(folder, 'nowhere', 'secret')), { code: 'ENOENT' });
});
