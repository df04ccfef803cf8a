import assert from 'node:assert/strict';
import { test } from 'node:test';
import { processorMs } from '@octavo/testing';
import { partsOf } from './parts.ts';
import { toQuestion } from './question.ts';
import { variantsOf } from './variants.ts';

const stems = (text: string) => toQuestion(text).terms.map(({ stem }) => stem);

test('words that only ask are left out, unless there are no others', () => {
  assert.deepEqual(stems('How many days of vacation do I have?'), ['dai', 'vacat']);
  assert.deepEqual(stems('Who are you?'), ['who', 'ar', 'you']);
  assert.deepEqual(stems('running, runs and a runner'), ['run', 'runner']);
});

test('a question with several parts is divided, another is not', () => {
  assert.deepEqual(partsOf('Who leads the fund and when did she join?'), [
    'Who leads the fund',
    'when did she join?',
  ]);
  assert.deepEqual(partsOf('What are salt and pepper?'), ['What are salt and pepper?']);
});

test('a long run of spaces is read at once', async () => {
  const ms = await processorMs(() => {
    assert.deepEqual(partsOf(`When${' '.repeat(300_000)}is it?`).length, 1);
  });
  assert.ok(ms < 5_000, `${ms} ms`);
});

test('a question is searched for in several ways, each with other words', () => {
  assert.deepEqual(variantsOf('What is the tide?'), ['What is the tide?']);
  const names = 'Which of the Anna Berg companies does Zoë fund in Oslo since 2019?';
  assert.deepEqual(variantsOf(names), [names, 'anna berg', 'zoe', 'oslo']);
  const long =
    'what pressure acts on a slender body at supersonic speed when the boundary layer is thin and hot';
  assert.deepEqual(variantsOf(long), [long, 'pressure acts slender body supersonic speed boundary layer']);
  const asked = 'And how much of it in a year?';
  assert.deepEqual(variantsOf(`vacation ${asked}`, asked), [`vacation ${asked}`, asked]);
  assert.deepEqual(variantsOf('???'), ['???']);
});
