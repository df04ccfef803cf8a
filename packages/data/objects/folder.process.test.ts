import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readdir, rename, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { testFolder } from '@octavo/testing';
import { openFolderStore } from './index.ts';

const root = testFolder('folder');

const contentType = 'text/plain';
async function* of(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

describe('a folder of objects', () => {
  test('is for its owner only', async () => {
    const folder = join(root, 'private');
    const store = await openFolderStore(folder);
    await store.put(of('x'), { keys: ['a/b'], contentType });
    assert.equal((await stat(join(folder, 'a/b'))).mode & 0o777, 0o600);
    for (const path of [folder, join(folder, 'a')]) assert.equal((await stat(path)).mode & 0o777, 0o700);
  });

  test('follows no link out of it', async () => {
    const folder = join(root, 'links');
    const store = await openFolderStore(folder);
    await store.put(of('x'), { keys: ['a/true'], contentType });
    await writeFile(join(root, 'secret'), 'secret');
    await symlink(join(root, 'secret'), join(folder, 'a/link'));
    assert.equal(await store.find('a/link'), undefined);
    assert.deepEqual(
      (await store.list('a/')).map(({ key }) => key),
      ['a/true'],
    );
    const forged = { key: 'a/link', sizeBytes: 6, modifiedMs: 0, entityTag: '""' };
    await assert.rejects(Array.fromAsync(store.read(forged)), { code: 'not_found' });
  });

  test('forgets what a killed process had begun, and keeps what it had finished', async () => {
    const folder = join(root, 'killed');
    const child = fork(join(import.meta.dirname, 'testing-writer.ts'), [folder]);
    await once(child, 'message');
    child.kill('SIGKILL');
    await once(child, 'exit');
    const aside = join(folder, '.incoming');
    const [left = ''] = await readdir(aside);
    assert.ok((await stat(join(aside, left))).size >= 1_000_000, 'the process had written aside');
    const store = await openFolderStore(folder);
    assert.deepEqual(
      (await store.list('a/')).map(({ key }) => key),
      ['a/finished'],
    );
    assert.equal(await store.find('a/begun'), undefined);
    assert.equal((await readdir(aside)).length, 1, 'it may belong to a living process');
    const before = Date.now() / 1_000 - 61 * 60;
    await utimes(join(aside, left), before, before);
    await openFolderStore(folder);
    assert.deepEqual(await readdir(aside), []);
  });

  test('removes each hour what was left for an hour', async (context) => {
    const folder = join(root, 'hourly');
    const aside = join(folder, '.incoming');
    context.mock.timers.enable({ apis: ['setInterval'] });
    await using _store = await openFolderStore(folder);
    const before = Date.now() / 1_000 - 61 * 60;
    await writeFile(join(aside, 'old'), 'x');
    await writeFile(join(aside, 'new'), 'x');
    await utimes(join(aside, 'old'), before, before);
    context.mock.timers.tick(60 * 60 * 1_000);
    while ((await readdir(aside)).includes('old')) await setImmediate();
    assert.deepEqual(await readdir(aside), ['new']);
  });

  test('that is no folder is a store that does not respond', async () => {
    await writeFile(join(root, 'file'), 'x');
    await assert.rejects(openFolderStore(join(root, 'file')), { code: 'unavailable' });
  });

  test('that became a file, or went away, does not respond either, until it can be made again', async () => {
    const folder = join(root, 'lost');
    const store = await openFolderStore(folder);
    await store.put(of('x'), { keys: ['a/b'], contentType });
    await rename(folder, `${folder}-aside`);
    const forged = { key: 'a/b', sizeBytes: 1, modifiedMs: 0, entityTag: '""' };
    const refuses = async () => {
      await assert.rejects(store.list('a/'), { code: 'unavailable' });
      await assert.rejects(store.find('a/b'), { code: 'unavailable' });
      await assert.rejects(Array.fromAsync(store.read(forged)), { code: 'unavailable' });
    };
    await refuses();
    await writeFile(folder, 'x');
    await refuses();
    await assert.rejects(store.ping(), { code: 'unavailable' });
    await rm(folder);
    await store.ping();
    assert.deepEqual(await store.list('a/'), []);
  });
});
