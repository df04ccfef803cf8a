import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { numberText, parseExact, parseRaw, rawNumber, stringifyExact } from './exact-json.ts';

const digits = fc.stringMatching(/^-?[1-9]\d{0,30}(\.\d{0,10}[1-9])?$/);

test('every decimal number comes back with its digits', () => {
  fc.assert(
    fc.property(digits, (text) => {
      const json = `{"a":[${text}],"b":"${text}"}`;
      assert.equal(stringifyExact(parseExact(json)), json);
      assert.equal(JSON.stringify(parseRaw(json)), json);
      const { a } = parseRaw(json) as { a: [number] };
      assert.equal(numberText(a[0]), text);
    }),
  );
});

test('only what needs it is a bigint or raw', () => {
  const parsed = parseExact(
    '[9007199254740991,9007199254740992,12.5,70368744177664.01,"9007199254740993",1e3]',
  );
  assert.deepEqual(parsed, [
    9007199254740991,
    9007199254740992n,
    12.5,
    rawNumber('70368744177664.01'),
    '9007199254740993',
    1000,
  ]);
});
