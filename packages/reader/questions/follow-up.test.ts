import assert from 'node:assert/strict';
import { test } from 'node:test';
import { processorMs } from '@octavo/testing';
import { withoutCourtesy } from '../everyday/intent.ts';
import { meantQuestions } from './follow-up.ts';

test('a thing takes the place of one of its kind or of what stands behind the same preposition, and names stand beside a pronoun', () => {
  const after = (query: string, ...before: readonly string[]) =>
    meantQuestions(
      query,
      before.map((content) => ({ role: 'user', content })),
    );
  assert.equal(after('And Sulavik?', 'What does a boat pay in Vik?')[0], 'What does a boat pay in Sulavik?');
  assert.equal(
    after('And for a trawler?', 'What is the fee for a boat in Vik?')[0],
    'What is the fee for a trawler in Vik?',
  );
  assert.equal(after('Who owns it?', 'When was the ferry Gullfoss built?')[0], 'Gullfoss Who owns it?');
  assert.equal(after('Who owns it?', 'Who wrote the Harbor Guide?')[0], 'Harbor Guide Who owns it?');
});

test('a question of little but spaces does not take long', async () => {
  const before = [{ role: 'user', content: 'What is the default size of a berth?' }] as const;
  const ms = await processorMs(() =>
    assert.ok(meantQuestions(withoutCourtesy(`And of ${' '.repeat(2_000)}!x`), before).length > 0),
  );
  assert.ok(ms < 2_000, `${ms} ms`);
});
