import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, describe, test } from 'node:test';
import { AppError } from '@octavo/core';
import { testFolder } from '@octavo/testing';
import { startStrictTestS3, startTestS3 } from '@octavo/testing/engines';
import { type ObjectStore, openFolderStore, openS3Store } from './index.ts';

const megabyte = 1024 * 1024;
const contentType = 'text/plain';

const adapters: Readonly<Record<string, () => Promise<() => Promise<ObjectStore>>>> = {
  'a folder': async () => {
    const folder = testFolder('objects');
    return () => openFolderStore(folder);
  },
  S3: async () => {
    const server = await startTestS3();
    return () => openS3Store(server);
  },
  'S3 with conditional requests': async () => {
    const server = await startStrictTestS3();
    return () => openS3Store(server);
  },
};

// Most of the time is spent waiting for disks and servers, so the adapters run side by side.
describe('objects', { concurrency: true }, () => {
  for (const [name, prepare] of Object.entries(adapters)) {
    describe(`in ${name}`, { concurrency: 1 }, () => contract(name, prepare));
  }
});

async function contract(name: string, prepare: () => Promise<() => Promise<ObjectStore>>): Promise<void> {
  const open = await prepare();
  const store = await open();
  after(() => store[Symbol.asyncDispose]());
  let count = 0;
  /** A folder that no other test uses. */
  const fresh = () => `f${++count}/`;
  const put = (keys: Iterable<string>, content: AsyncIterable<Uint8Array>, signal?: AbortSignal) =>
    store.put(content, { keys, contentType, ...(signal && { signal }) });

  test('are given back as they were stored, small and large', async () => {
    const folder = fresh();
    for (const size of [1, 1_000, 8 * megabyte, 20 * megabyte + 7]) {
      const bytes = randomBytes(size);
      const before = Date.now();
      const stored = await put([`${folder}of-${size}.bin`], inPieces(bytes, 300_000));
      assert.equal(stored.key, `${folder}of-${size}.bin`);
      assert.equal(stored.sizeBytes, size);
      assert.ok(stored.modifiedMs > before - 2_000 && stored.modifiedMs < Date.now() + 2_000);
      assert.match(stored.entityTag, /^"[^"]+"$/);
      assert.deepEqual(await store.find(stored.key), stored);
      assert.ok((await bytesOf(store.read(stored))).equals(bytes), `${size} bytes`);
    }
  });

  test('are read in ranges', async () => {
    const bytes = randomBytes(9 * megabyte);
    const stored = await put([`${fresh()}ranged.bin`], inPieces(bytes, megabyte));
    const last = bytes.length - 1;
    for (const [start, end] of [
      [0, 0],
      [last, last],
      [8 * megabyte - 1, 8 * megabyte],
      [5, 2 * megabyte],
      [0, last],
    ] as const) {
      const read = await bytesOf(store.read(stored, { start, end }));
      assert.ok(read.equals(bytes.subarray(start, end + 1)), `${start}-${end}`);
    }
  });

  test('are removed once, and their keys are free again', async () => {
    const key = `${fresh()}removed.txt`;
    const stored = await put([key], of('first'));
    assert.equal(await store.remove(key), true);
    assert.equal(await store.find(key), undefined);
    await assert.rejects(bytesOf(store.read(stored)), withCode('not_found'));
    assert.equal(await store.remove(key), false);
    assert.equal(await store.remove('nothing/here'), false);
    await assert.rejects(async () => store.remove('../outside'), withCode('invalid_input'));
    assert.equal((await put([key], of('second'))).key, key);
  });

  test('are listed newest first, those right below the folder', async () => {
    const folder = fresh();
    assert.deepEqual(await store.list(folder), []);
    for (const key of ['a', 'c', 'b', 'deeper/d']) await put([folder + key], of('x'));
    await put(['elsewhere/e'], of('x'));
    const listed = await store.list(folder);
    assert.deepEqual(listed.map(({ key }) => key).sort(), [`${folder}a`, `${folder}b`, `${folder}c`]);
    const order = listed.toSorted((one, other) => other.modifiedMs - one.modifiedMs);
    assert.deepEqual(listed, order);
    assert.deepEqual(listed[0], await store.find(listed[0]?.key ?? ''));
  });

  test('take the next key where one is taken, and replace nothing', async () => {
    const folder = fresh();
    const keys = [`${folder}1`, `${folder}2`, `${folder}3`];
    assert.equal((await put(keys, of('first'))).key, `${folder}1`);
    assert.equal((await put(keys, inPieces(randomBytes(9 * megabyte), megabyte))).key, `${folder}2`);
    assert.equal((await put(keys, of('third'))).key, `${folder}3`);
    await assert.rejects(put(keys, of('fourth')), withCode('conflict'));
    const first = await store.find(`${folder}1`);
    assert.ok(first);
    assert.equal(String(await bytesOf(store.read(first))), 'first');
  });

  test('are each stored under a key of their own when they come at once', async () => {
    const folder = fresh();
    const keys = Array.from({ length: 12 }, (_, index) => `${folder}k${index}`);
    const sizes = [1, 10, 100, 1_000, 9 * megabyte, 9 * megabyte + 1];
    // As two processes would, where the store can tell them apart.
    const other = name === 'S3' ? store : await open();
    const stored = await Promise.all(
      sizes.map((size, index) =>
        (index % 2 === 0 ? store : other).put(inPieces(Buffer.alloc(size, 'x'), megabyte), {
          keys,
          contentType,
        }),
      ),
    );
    assert.equal(new Set(stored.map(({ key }) => key)).size, sizes.length);
    assert.deepEqual(
      stored.map(({ sizeBytes }) => sizeBytes),
      sizes,
    );
    const listed = await store.list(folder);
    assert.deepEqual(
      listed.map(({ sizeBytes }) => sizeBytes).sort((one, two) => one - two),
      sizes,
    );
  });

  test('are not there before they are whole', async () => {
    const folder = fresh();
    const { promise: held, resolve: letGo } = Promise.withResolvers<void>();
    const { promise: begun, resolve: tellBegun } = Promise.withResolvers<void>();
    async function* slow() {
      yield Buffer.alloc(20 * megabyte, 'x');
      tellBegun();
      await held;
      yield Buffer.from('end');
    }
    const storing = put([`${folder}slow`], slow());
    await begun;
    assert.deepEqual(await store.list(folder), []);
    assert.equal(await store.find(`${folder}slow`), undefined);
    letGo();
    await storing;
    assert.equal((await store.list(folder)).length, 1);
  });

  test('leave nothing where their content fails, and the key free', async () => {
    const folder = fresh();
    for (const size of [10, 20 * megabyte]) {
      const broken = async function* () {
        yield Buffer.alloc(size, 'x');
        throw new RangeError('broken');
      };
      await assert.rejects(put([`${folder}half`], broken()), RangeError);
      assert.deepEqual(await store.list(folder), []);
      assert.equal(await store.find(`${folder}half`), undefined);
    }
    assert.equal((await put([`${folder}half`], of('whole'))).key, `${folder}half`);
  });

  test('leave nothing where storing is given up', async () => {
    const folder = fresh();
    const given = new AbortController();
    const content = async function* () {
      yield Buffer.alloc(20 * megabyte, 'x');
      given.abort();
      yield Buffer.alloc(9 * megabyte, 'x');
    };
    await assert.rejects(put([`${folder}given-up`], content(), given.signal));
    assert.deepEqual(await store.list(folder), []);
  });

  test('cannot be empty', async () => {
    await assert.rejects(put([`${fresh()}empty`], inPieces(Buffer.alloc(0), 1)), withCode('invalid_input'));
  });

  test('have keys that lead nowhere else', async () => {
    const keys = ['', '/etc/passwd', '../x', 'a/../../x', 'a//b', '.hidden', 'a/.b', 'a\\b', 'a\0', 'é'];
    for (const key of [...keys, 'x'.repeat(513)]) {
      await assert.rejects(async () => store.find(key), withCode('invalid_input'), key);
      await assert.rejects(put([key], of('x')), withCode('invalid_input'), key);
      await assert.rejects(async () => store.list(`${key}/`), withCode('invalid_input'), key);
    }
  });

  test('that are missing are nothing', async () => {
    assert.equal(await store.find('nowhere/to-be-found'), undefined);
    const lost = { key: 'nowhere/lost', sizeBytes: 1, modifiedMs: 0, entityTag: '"lost"' };
    await assert.rejects(bytesOf(store.read(lost)), withCode('not_found'));
  });

  test('are in a store that answers', async () => {
    await store.ping(AbortSignal.timeout(5_000));
  });
}

async function* of(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

async function* inPieces(bytes: Uint8Array, pieceBytes: number): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += pieceBytes)
    yield bytes.subarray(start, start + pieceBytes);
}

async function bytesOf(pieces: AsyncIterable<Uint8Array>): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(pieces));
}

function withCode(code: string): (error: unknown) => boolean {
  return (error) => error instanceof AppError && error.code === code;
}
