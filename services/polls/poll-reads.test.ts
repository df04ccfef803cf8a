import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PollReads } from './poll-reads.ts';
import { startPolls } from './testing.ts';

test('requests of one turn share a read, and later ones see the votes before them', async () => {
  await using polls = await startPolls();
  await using database = await polls.openDatabase();
  const { id, choices } = await polls.createPoll(['A', 'B']);
  const reads = new PollReads({ database, clock: polls.clock });
  const paging = { limit: 10, offset: 0 };
  const votes = async () => (await reads.find(id))?.choices.map((choice) => choice.votes);

  assert.equal(reads.find(id), reads.find(id));
  assert.equal(reads.listOpen(paging), reads.listOpen(paging));
  assert.notEqual(reads.find(id), reads.find(id + 1));
  assert.deepEqual(await votes(), [0, 0]);
  const vote = () => polls.call('POST', `/api/questions/${id}/vote/`, { body: { choice: choices[0] } });
  for (const { status } of await Promise.all([vote(), vote()])) assert.equal(status, 200);
  assert.deepEqual(await votes(), [2, 0]);
  assert.equal(await reads.find(id + 1), undefined);
});
