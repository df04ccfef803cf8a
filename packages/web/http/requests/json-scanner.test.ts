import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { AppError } from '@octavo/core';
import { type JsonBounds, JsonScanner } from './json-scanner.ts';

const rowBounds: JsonBounds = { depth: 32, values: 100_000, list: { key: 'posts', items: 1_000 } };

/** Scans a body, whole and in the smallest pieces, and returns the code of its error, or `ok`. */
function scan(body: string, bounds = rowBounds): string {
  const bytes = Buffer.from(body);
  const [whole, piece] = [bytes.length, 1].map((size) => {
    const scanner = new JsonScanner(bounds);
    try {
      for (let start = 0; start < bytes.length; start += size)
        scanner.push(bytes.subarray(start, start + size));
      return 'ok';
    } catch (error) {
      return (error as AppError).code;
    }
  });
  assert.equal(whole, piece);
  return whole ?? '';
}

const rows = (count: number, row = '{}') => `[${Array(count).fill(row).join(',')}]`;

describe('the scanner of JSON', () => {
  test('counts the rows, however their key is written', () => {
    for (const key of ['"posts"', '"p\\u006fsts"', ' "posts" \n']) {
      assert.equal(scan(`{${key}:${rows(1_000)}}`), 'ok', key);
      assert.equal(scan(`{${key}:${rows(1_001)}}`), 'validation_failed', key);
      assert.equal(
        scan(`{"a":[1,2],"b":"posts",${key}:${rows(1_001, '{"title":"a,b"}')}}`),
        'validation_failed',
      );
    }
    assert.equal(scan(rows(1_001)), 'validation_failed');
  });

  test('counts nothing else as rows', () => {
    for (const key of ['"other"', '"post"', '"posts "', '"x\\"posts"', `"${'p'.repeat(100)}"`]) {
      assert.equal(scan(`{${key}:${rows(2_000)},"posts":[{}]}`), 'ok', key);
    }
    assert.equal(scan(`{"posts":{"a":${rows(2_000)}}}`), 'ok');
    assert.equal(scan(`{"posts":[${rows(2_000)}]}`), 'ok');
    assert.equal(scan(`{"posts":["${',{['.repeat(5_000)}\\\\"]}`), 'ok');
    assert.equal(scan(`{"posts":[{"title":"\\"${',['.repeat(5_000)}"}]}`), 'ok');
  });

  test('bounds the depth and the number of values', () => {
    const nested = (depth: number) => `{"posts":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`;
    assert.equal(scan(nested(32)), 'ok');
    assert.equal(scan(nested(33)), 'invalid_input');
    assert.equal(scan(`{"other":${rows(100_001, '1')}}`), 'too_large');
    assert.equal(scan(`{"posts":[${rows(100_001, '1')}]}`), 'too_large');
    assert.equal(scan(`{"posts":[{${Array(100_001).fill('"a":1').join(',')}}]}`), 'too_large');
  });

  test('bounds no list if none is named', () => {
    const bounds = { depth: 2, values: 3_000 };
    assert.equal(scan(`{"posts":${rows(2_000, '1')}}`, bounds), 'ok');
    assert.equal(scan(rows(2_000, '1'), bounds), 'ok');
    assert.equal(scan(rows(3_001, '1'), bounds), 'too_large');
    assert.equal(scan('[[[]]]', bounds), 'invalid_input');
  });
});
