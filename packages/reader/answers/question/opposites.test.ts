import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isOpposite } from './opposites.ts';

test('a text is the opposite of a question only if it lacks what is asked for', () => {
  assert.ok(isOpposite('What is the maximum length?', 'minLength is 3'));
  assert.ok(isOpposite('When does a woman retire?', 'Sex: male; Age: 67'));
  assert.ok(!isOpposite('What is the maximum length?', 'min 3, max 9'));
  assert.ok(!isOpposite('What are the minimum and the maximum?', 'The minimum is 3.'));
  assert.ok(!isOpposite('How long is it?', 'The minimum is 3.'));
});
