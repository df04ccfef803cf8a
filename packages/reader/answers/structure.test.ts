import assert from 'node:assert/strict';
import { test } from 'node:test';
import { unitsOf } from './structure.ts';

test('an option inside an entry is one of its own', () => {
  const entry =
    '--book\n    Books a berth.\n\n    --nights\n           So many nights.\n\n    --quiet\n           No messages.';
  assert.deepEqual([...new Set(unitsOf(entry).map(({ term }) => term))], ['--book', '--nights', '--quiet']);
});
