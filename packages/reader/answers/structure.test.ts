import assert from 'node:assert/strict';
import { test } from 'node:test';
import { unitsOf } from './structure.ts';

test('the answer below a question knows it, and an option inside an entry is one of its own', () => {
  const faq = 'Q: How do I tie up my boat?\n\nA: With the rope.\n\nQ: Is there water?\n\nA: At each berth.';
  const answers = unitsOf(faq).filter(({ text }) => text.startsWith('A:'));
  assert.deepEqual(
    answers.map(({ lead }) => lead && faq.slice(lead.start, lead.end)),
    ['Q: How do I tie up my boat?', 'Q: Is there water?'],
  );
  const entry =
    '--book\n    Books a berth.\n\n    --nights\n           So many nights.\n\n    --quiet\n           No messages.';
  assert.deepEqual([...new Set(unitsOf(entry).map(({ term }) => term))], ['--book', '--nights', '--quiet']);
});
