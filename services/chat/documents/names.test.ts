import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cleanName } from './names.ts';

test('names are the last part, without characters that deceive', () => {
  assert.equal(cleanName('../../etc/passwd'), 'passwd');
  assert.equal(cleanName('C:\\files\\plan.md'), 'plan.md');
  assert.equal(cleanName('a\u202Efdp.txt\0'), 'afdp.txt');
  assert.equal(cleanName('e\u0301.txt'), 'é.txt');
  assert.equal(cleanName('..'), 'document');
  assert.ok(Buffer.byteLength(cleanName(`${'ä'.repeat(300)}.pdf`)) <= 255);
  assert.match(cleanName(`${'ä'.repeat(300)}.pdf`), /\.pdf$/);
});
