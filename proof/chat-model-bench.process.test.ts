import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startModel } from '../services/chat/testing-model.ts';
import type { RealQuestion } from './bench/chat/real/grades.ts';
import { measureLibrary } from './bench/chat/real/measure.ts';

const files = [
  { name: 'berths.txt', content: new TextEncoder().encode('The harbor of Vik has 48 berths for boats.') },
];
const questions: RealQuestion[] = [
  { kind: 'answerable', ask: 'How many berths does the harbor of Vik have?', says: ['\\b48\\b'] },
  { kind: 'near', ask: 'What does a berth cost a day?' },
  { kind: 'near', ask: 'Who is the master of the harbor?' },
  {
    kind: 'conversation',
    turns: [{ ask: 'How many berths are there?', says: ['48'] }, { ask: 'And for which boats?' }],
  },
];

/** A model that answers some questions, and says of the others that no document does, or something that none says. */
const recorded: readonly (readonly [RegExp, string])[] = [
  [/How many berths/, 'The harbor of Vik has 48 berths for boats [1].'],
  [/cost/, 'I found no answer to this in the documents.'],
  [/master/, 'Captain Nemo commands all ships of the northern fleet.'],
];

test('the bench of real questions grades what a model writes, and counts what no source supports', async (t) => {
  await using model = await startModel();
  model.script = (answer, { messages }) => {
    const asked = JSON.stringify(messages.at(-1)?.content);
    const text = recorded.find(([pattern]) => pattern.test(asked))?.[1];
    if (text === undefined) answer.fail(500);
    else answer.text(text).end();
  };
  const lines: string[] = [];
  t.mock.method(console, 'log', (line: string) => lines.push(line));
  const settings = { LLM_BASE_URL: model.url, LLM_MODEL: 'scripted' };
  const graded = await measureLibrary(files, questions, { isVerbose: false, model: settings });
  assert.deepEqual(
    graded.map(({ kind, grade, reply }) => [kind, grade, reply.metadata.mode, reply.grounded]),
    [
      ['answerable', 'right', 'llm', true],
      ['near', 'refused', 'llm', false],
      ['near', 'wrong', 'llm', false],
      ['first turn', 'right', 'llm', true],
      ['follow-up', graded[4]?.grade, 'extractive', graded[4]?.reply.grounded],
    ],
  );
  assert.match(lines.join('\n'), /written by the model: 4 of 5; grounded 2 of 3 answers/);
});
