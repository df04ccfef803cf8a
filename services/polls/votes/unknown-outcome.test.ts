import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { startGate, testDatabaseUrl } from '@octavo/testing/engines';
import { startPolls } from '../testing.ts';

const { url, skip } = await testDatabaseUrl();

describe('a vote after whose commit PostgreSQL is lost', { skip }, async () => {
  if (!url) return;
  const gate = await startGate(new URL(url).host);
  const DATABASE_URL = Object.assign(new URL(url), { host: gate.address }).href;
  const polls = await startPolls({ environment: { DATABASE_URL } });
  after(() => polls[Symbol.asyncDispose]());

  test('is counted, and not answered by 503', async () => {
    const { id, choices } = await polls.createPoll(['Tea', 'Coffee'], { results: 'always' });
    const body = { choice: choices[0] };
    const vote = () => polls.call('POST', `/api/questions/${id}/vote/`, { body, authorization: undefined });
    gate.cutResponseTo('COMMIT', '');
    assert.equal((await vote()).status, 504);
    const after = await vote();
    assert.equal(after.json.results[0].votes, 2, after.text);
  });
});
