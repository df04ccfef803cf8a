import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { describe, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { testFolder } from '@octavo/testing';
import { SpillBuffer, SpillOverflow } from './index.ts';

const folder = testFolder('spill');

const memoryBytes = 10_000;
const budgetBytes = 1_000_000;

function bufferOf(budget = { leftBytes: budgetBytes }, bytes = memoryBytes): SpillBuffer {
  return new SpillBuffer({ folder, budget, memoryBytes: bytes });
}

describe('a buffer that spills', () => {
  test('gives the bytes in order, however writer and reader take turns', async () => {
    for (let round = 0; round < 20; round++) {
      const budget = { leftBytes: budgetBytes };
      // A third of all there is, so that nothing overflows however slow the disk.
      const buffer = bufferOf(budget, 45_000);
      const pieces = Array.from({ length: 60 }, (_, index) =>
        randomBytes(1 + ((index * 997 + round) % 4_000)),
      );
      const writing = (async () => {
        for (const [index, piece] of pieces.entries()) {
          buffer.write(piece);
          if (index % (1 + (round % 5)) === 0) for (let turn = 0; turn < 20; turn++) await setImmediate();
        }
        buffer.end();
      })();
      const read: Uint8Array[] = [];
      for await (const bytes of buffer) {
        read.push(bytes);
        for (let turn = 0; turn < (round % 7) * 5; turn++) await setImmediate();
      }
      await writing;
      assert.ok(Buffer.concat(read).equals(Buffer.concat(pieces)), `round ${round}`);
      assert.equal(budget.leftBytes, budgetBytes);
    }
  });

  test('keeps what memory does not take in a file without a name', async () => {
    const budget = { leftBytes: budgetBytes };
    await using buffer = bufferOf(budget);
    const piece = randomBytes(5_000);
    for (let count = 0; count < 50; count++) {
      const before = budget.leftBytes;
      buffer.write(piece);
      while (count >= 2 && budget.leftBytes === before) await setImmediate();
    }
    assert.deepEqual(await readdir(folder), []);
    assert.ok(budget.leftBytes <= budgetBytes - 48 * piece.length);
    buffer.end();
    const read = Buffer.concat(await Array.fromAsync(buffer));
    assert.equal(read.length, 50 * piece.length);
    assert.equal(budget.leftBytes, budgetBytes);
  });

  test('fails where the disk may not take more', async () => {
    const budget = { leftBytes: 20_000 };
    const buffer = bufferOf(budget);
    for (let count = 0; count < 20; count++) {
      buffer.write(randomBytes(5_000));
      for (let turn = 0; turn < 50; turn++) await setImmediate();
    }
    buffer.end();
    await assert.rejects(Array.fromAsync(buffer), SpillOverflow);
    assert.equal(budget.leftBytes, 20_000);
  });

  test('lets a writer that can wait wait for the disk, within bounds', async () => {
    const buffer = bufferOf();
    const pieces = Array.from({ length: 200 }, () => randomBytes(5_000));
    for (const piece of pieces) {
      buffer.write(piece);
      await buffer.relieved(10_000);
    }
    buffer.end();
    assert.ok(Buffer.concat(await Array.fromAsync(buffer)).equals(Buffer.concat(pieces)));
    const stuck = bufferOf({ leftBytes: budgetBytes });
    for (let count = 0; count < 5; count++) stuck.write(randomBytes(5_000));
    await stuck.relieved(0);
    await stuck[Symbol.asyncDispose]();
    await stuck.relieved(10_000);
  });

  test('fails where the writer is faster than the disk', async () => {
    const buffer = bufferOf();
    for (let count = 0; count < 20; count++) buffer.write(randomBytes(5_000));
    await assert.rejects(Array.fromAsync(buffer), SpillOverflow);
  });

  test('tells the reader why the writer gave up, at once', async () => {
    const buffer = bufferOf();
    buffer.write(Buffer.from('some'));
    const reading = Array.fromAsync(buffer);
    await setImmediate();
    buffer.fail(new RangeError('enough'));
    await assert.rejects(reading, RangeError);
  });
});
