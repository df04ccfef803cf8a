import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cleanName, mediaTypeOf } from './names.ts';

test('names are the last part, without characters that deceive', () => {
  assert.equal(cleanName('../../etc/passwd'), 'passwd');
  assert.equal(cleanName('C:\\files\\plan.md'), 'plan.md');
  assert.equal(cleanName('a\u202Efdp.txt\0'), 'afdp.txt');
  assert.equal(cleanName('e\u0301.txt'), 'é.txt');
  assert.equal(cleanName('..'), 'document');
  assert.ok(Buffer.byteLength(cleanName(`${'ä'.repeat(300)}.pdf`)) <= 255);
  assert.match(cleanName(`${'ä'.repeat(300)}.pdf`), /\.pdf$/);
});

test('name and content must agree', () => {
  const bytes = (text: string) => Buffer.from(text, 'latin1');
  assert.equal(mediaTypeOf('a.md', bytes('# x')), 'text/markdown');
  assert.equal(mediaTypeOf('Main.java', bytes('class X {}')), 'text/x-source');
  for (const [name, content] of [
    ['a.exe', 'MZ'],
    ['a.pdf', 'hello'],
    ['a.docx', 'hello'],
    ['a.txt', 'PK\x03\x04'],
    ['a.txt', 'a\0b'],
    ['noending', 'x'],
  ] as const) {
    assert.throws(() => mediaTypeOf(name, bytes(content)), { code: 'unsupported_media_type' });
  }
});
