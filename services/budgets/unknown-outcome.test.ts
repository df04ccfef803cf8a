import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { startGate, testDatabaseUrl } from '@octavo/testing/engines';
import { assertError, startBudgets } from './testing.ts';

const { url, skip } = await testDatabaseUrl();

describe('a change that PostgreSQL did not confirm', { skip }, async () => {
  if (!url) return;
  const gate = await startGate(new URL(url).host);
  const DATABASE_URL = Object.assign(new URL(url), { host: gate.address }).href;
  const app = await startBudgets({ environment: { DATABASE_URL } });
  after(() => app[Symbol.asyncDispose]());
  const alice = await app.person();

  test('is 504, and the Idempotency-Key tells', async () => {
    const headers = { 'idempotency-key': 'food-1' };
    const send = () => alice.post('/api/budgets', { name: 'Food', limit: 500 }, headers);
    gate.cutResponseTo('insert into "budgets"."budget"', 'COMMIT');
    const unknown = await send();
    assertError(unknown, { status: 504, code: 'UPSTREAM_TIMEOUT' });
    assert.match(unknown.json.error.message, /same Idempotency-Key/);
    assert.equal(unknown.headers.get('retry-after'), null);
    const told = await send();
    assert.deepEqual([told.status, told.headers.get('idempotent-replayed')], [201, 'true']);
    const { json: budgets } = await alice.get('/api/budgets');
    assert.deepEqual(
      budgets.map(({ id }: { id: string }) => id),
      [told.json.id],
    );
  });

  test('is 503 where it was undone', async () => {
    gate.cutResponseTo('insert into "budgets"."budget"');
    assertError(await alice.post('/api/budgets', { name: 'Rent', limit: 500 }), {
      status: 503,
      code: 'SERVICE_UNAVAILABLE',
    });
    assert.equal((await alice.get('/api/budgets')).json.length, 1);
  });
});
