import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createCsrf } from './csrf.ts';

const csrf = createCsrf('a secret of more than thirty-two bytes');

test('a token is valid for its session, and different each time', () => {
  const token = csrf.token('alice');
  assert.notEqual(csrf.token('alice'), token);
  csrf.check(token, 'alice');
  csrf.check(token, 'alice');
});

test('a token of another session, another secret or of anybody is refused', () => {
  const token = csrf.token('alice');
  const foreign = createCsrf('another secret of thirty-two bytes').token('alice');
  const changed = `${token.slice(0, -1)}${token.endsWith('A') ? 'B' : 'A'}`;
  for (const given of [foreign, changed, '', undefined, null, 7, `${token}x`, token.slice(0, 12), [token]]) {
    assert.throws(() => csrf.check(given, 'alice'), { code: 'forbidden', reason: 'CSRF' });
  }
  assert.throws(() => csrf.check(token, 'charlie'), { code: 'forbidden' });
  assert.throws(() => csrf.check(token, ''), { code: 'forbidden' });
});
