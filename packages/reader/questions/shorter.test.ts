import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shorterQuestions } from './shorter.ts';

test('a question is asked without what leads to it, without brackets, and for a value by its name', () => {
  const expected: Readonly<Record<string, readonly string[]>> = {
    'Who wrote it?': [],
    'Hi! Quick question: who leads the harbor?': ['who leads the harbor?'],
    'We have a boat of 9 meters. Where may the boat lie? Thanks': ['Where may the boat lie?'],
    'How high was the fee (BERTHFEE) in Vik?': ['what was the fee in Vik?'],
    'How high is the tower of Vik?': [],
    'What is the ratio 1:2 of the berth?': [],
  };
  for (const [question, shorter] of Object.entries(expected))
    assert.deepEqual(shorterQuestions(question), shorter);
});
