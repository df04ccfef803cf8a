import assert from 'node:assert/strict';
import { until } from '@octavo/testing';
import { ask, password, unique } from './requests.ts';
import type { Replicas, Workload } from './traffic.ts';

type Headers = Readonly<Record<string, string>>;

export const budgets: Workload = {
  service: 'budgets',
  environment: {
    JWT_SECRET: 'a secret of all replicas, long enough',
    BUDGETS_RATE_LIMIT_PER_MINUTE: '0',
    BUDGETS_AUTH_RATE_LIMIT_PER_MINUTE: '0',
    GRPC_PORT: '0',
  },
  begin: async () => async (at) => {
    const email = `${unique('alice')}@example.com`;
    await ask(at.one, '/api/auth/register', { body: { email, password }, is: 201 });
    const { token } = (await ask(at.other, '/api/auth/login', { body: { email, password } })).json;
    const headers = { authorization: `Bearer ${token}` };
    const { id } = await makeBudget(at, headers);
    await spend(at, headers, id);
    await keepBooks(at, headers, id);
    await runTask(at, headers);
  },
};

async function makeBudget({ one, other }: Replicas, headers: Headers): Promise<{ id: string }> {
  const body = { name: unique('Food'), limit: 100, period: 'monthly', thresholds: [50] };
  const repeated = { ...headers, 'idempotency-key': unique('key') };
  const made = (await ask(one, '/api/budgets', { body, headers: repeated, is: 201 })).json;
  const again = (await ask(other, '/api/budgets', { body, headers: repeated, is: 201 })).json;
  assert.equal(again.id, made.id);
  assert.equal((await ask(other, '/api/budgets', { headers })).json.length, 1);
  const path = `/api/budgets/${made.id}`;
  const changed = { method: 'PUT', body: { name: 'Fog' } };
  await ask(other, path, { ...changed, headers: { ...headers, 'if-match': '"v1"' } });
  await ask(one, path, { ...changed, headers: { ...headers, 'if-match': '"v1"' }, is: 412 });
  return made;
}

async function spend({ one, other }: Replicas, headers: Headers, budgetId: string): Promise<void> {
  const word = unique('word').replaceAll('-', '');
  const add = (url: string, amount: number) =>
    ask(url, '/api/expenses', { body: { budgetId, description: `Ferry ${word}`, amount }, headers, is: 201 });
  const [first, second] = await Promise.all([add(one, 30), add(other, 25.5)]);
  const spentAt = async (url: string) => (await ask(url, `/api/budgets/${budgetId}`, { headers })).json.spent;
  assert.deepEqual([await spentAt(one), await spentAt(other)], [55.5, 55.5]);
  const search = { body: { query: word }, headers };
  assert.equal((await ask(other, '/api/search/expenses', search)).json.total, 2);
  const item = (response: typeof first) => `/api/expenses/${response.json.id}`;
  await ask(other, item(first), { method: 'PUT', body: { amount: 20 }, headers });
  await ask(one, item(second), { method: 'DELETE', headers });
  assert.deepEqual([await spentAt(one), await spentAt(other)], [20, 20]);
  const query = { query: `{ budget(id: "${budgetId}") { spent expenses { totalCount } } }` };
  const { data } = (await ask(other, '/api/graphql', { body: query, headers })).json;
  assert.deepEqual(data.budget, { spent: 20, expenses: { totalCount: 1 } });
  const notified = (await ask(one, '/api/notifications', { headers })).json;
  assert.equal(notified.filter(({ type }: { type: string }) => type === 'budget.threshold').length, 1);
}

async function keepBooks({ one, other }: Replicas, headers: Headers, budgetId: string): Promise<void> {
  const customer = (await ask(one, '/api/customers', { body: { name: 'Bob' }, headers, is: 201 })).json;
  const items = [{ description: 'Ticket', quantity: 2, unitAmount: 4.5 }];
  const body = { customerId: customer.id, budgetId, items };
  const order = (await ask(other, '/api/orders', { body, headers, is: 201 })).json;
  const done = { method: 'PUT', body: { status: 'completed' }, headers };
  assert.equal((await ask(one, `/api/orders/${order.id}`, done)).json.status, 'completed');
  const entries = (await ask(other, '/api/transactions', { headers })).json;
  assert.equal(entries.filter(({ orderId }: { orderId?: string }) => orderId === order.id).length, 1);
  const rule = {
    budgetId,
    description: 'Rent',
    amount: 5,
    freq: 'monthly',
    interval: 1,
    start: '2099-01-01',
  };
  const recurring = (
    await ask(one, '/api/recurring', { body: { ...rule, timezone: 'UTC' }, headers, is: 201 })
  ).json;
  const path = `/api/recurring/${recurring.id}`;
  await ask(other, path, { method: 'PUT', body: { amount: 6 }, headers });
  assert.equal((await ask(one, path, { headers })).json.amount, 6);
}

/** A task may be done by either replica. */
async function runTask({ one, other }: Replicas, headers: Headers): Promise<void> {
  const body = { type: 'report', description: 'A report' };
  const task = (await ask(one, '/api/tasks', { body, headers, is: 202 })).json;
  const ended = await until(async () => {
    const { json } = await ask(other, `/api/tasks/${task.id}`, { headers });
    return ['pending', 'running'].includes(json.status) ? undefined : json;
  });
  assert.equal(ended.status, 'completed', JSON.stringify(ended));
}
