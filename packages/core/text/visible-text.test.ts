import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileValidator } from '@octavo/web/validation';
import { Type } from '../base/schema.ts';
import { isBlank, notBlank } from './visible-text.ts';

test('a text that shows nothing is blank, for functions and for schemas', () => {
  const validate = compileValidator(Type.Object({ text: Type.String(notBlank) }));
  const blank = ['', ' \t\n', '\u00a0\u3000', '\u3164', '\u2800\u200b', '\uffa0\u115f\u1160', '\u034f\ufe0f'];
  for (const text of [...blank, '\u{e0041}', '\u{1d159}', '\u{13441}', '\u0000\u00ad']) {
    assert.ok(isBlank(text), JSON.stringify(text));
    assert.deepEqual(validate({ text }).fields, { text: 'must not be blank' }, JSON.stringify(text));
  }
  for (const text of ['a', '\u3164a', '.', '한', '👩‍👩‍👧', '🏴󠁧󠁢󠁳󠁣󠁴󠁿', '⠁', 'É', '漢']) {
    assert.ok(!isBlank(text), text);
    assert.equal(validate({ text }).fields, undefined, text);
  }
});
