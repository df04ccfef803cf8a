import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { assertError, startBudgets } from '../testing.ts';

const app = await startBudgets();
after(() => app[Symbol.asyncDispose]());

const alice = await app.person('alice');
const bob = await app.person('bob');
const customers = '/api/customers';
const orders = '/api/orders';
const items = [
  { description: 'Chair', quantity: 2, unitAmount: '10.25' },
  { description: 'Lamp', quantity: 1, unitAmount: 5 },
];
const customer = await alice.create(customers, { name: 'Ada' });
const order = (given: object = {}) => alice.create(orders, { customerId: customer.id, items, ...given });
const step = (id: string, status: string) => alice.put(`${orders}/${id}`, { status });
const transactionsOf = async (id: string) => {
  const { json } = await alice.get('/api/transactions?limit=500');
  return json.filter(({ orderId }: { orderId: string }) => orderId === id).reverse();
};

test('a customer is created, read, changed and deleted', async () => {
  const created = await alice.post(customers, { name: 'Grace', email: 'Grace@Example.com', phone: '+1 555' });
  assert.equal(created.status, 201, created.text);
  const { id } = created.json;
  assert.equal(created.headers.get('location'), `${customers}/${id}`);
  assert.deepEqual([created.json.email, created.json.phone], ['grace@example.com', '+1 555']);
  assert.deepEqual((await alice.get(`${customers}/${id}`)).json, created.json);
  const changed = await alice.put(`${customers}/${id}`, { phone: null });
  assert.deepEqual([changed.json.name, changed.json.phone, changed.json.version], ['Grace', null, 2]);
  const stale = await alice.put(`${customers}/${id}`, { name: 'x' }, { 'if-match': '"v1"' });
  assertError(stale, { status: 412, code: 'PRECONDITION_FAILED' });
  assert.deepEqual(
    (await alice.get(customers)).json.map(({ name }: { name: string }) => name),
    ['Grace', 'Ada'],
  );
  assert.equal((await alice.delete(`${customers}/${id}`)).json.id, id);
  assertError(await alice.get(`${customers}/${id}`), { status: 404, code: 'NOT_FOUND' });
});

test('an order has the sum of its items', async () => {
  const created = await alice.post(orders, { customerId: customer.id, items });
  assert.equal(created.status, 201, created.text);
  const { json } = created;
  assert.deepEqual(
    [json.amount, json.amountMinor, json.currency, json.status],
    [25.5, 2_550, 'USD', 'pending'],
  );
  assert.deepEqual(json.items[0], {
    description: 'Chair',
    quantity: 2,
    unitAmount: 10.25,
    unitAmountMinor: 1_025,
  });
  const changed = await alice.put(`${orders}/${json.id}`, {
    items: [{ description: 'Desk', quantity: 3, unitAmount: 1 }],
  });
  assert.equal(changed.json.amount, 3);
  assert.deepEqual(await transactionsOf(json.id), []);
  assert.equal((await alice.delete(`${orders}/${json.id}`)).status, 200);
});

test('steps: completing and delivering write the transaction, canceling a completed one the reversal', async () => {
  const completed = await order();
  assert.equal((await step(completed.id, 'completed')).json.status, 'completed');
  assertError(await step(completed.id, 'completed'), { status: 409, code: 'CONFLICT', field: 'status' });
  assertError(await step(completed.id, 'shipped'), { status: 409, code: 'CONFLICT' });
  assert.equal((await step(completed.id, 'canceled')).status, 200);
  assert.deepEqual(
    (await transactionsOf(completed.id)).map(({ type }: { type: string }) => type),
    ['credit', 'reversal'],
  );

  const shipped = await order();
  await step(shipped.id, 'shipped');
  assert.deepEqual(await transactionsOf(shipped.id), []);
  assertError(await step(shipped.id, 'canceled'), { status: 409, code: 'CONFLICT' });
  await step(shipped.id, 'delivered');
  assert.equal((await transactionsOf(shipped.id)).length, 1);
  assertError(await step(shipped.id, 'canceled'), { status: 409, code: 'CONFLICT' });

  const canceled = await order();
  await step(canceled.id, 'canceled');
  assert.deepEqual(await transactionsOf(canceled.id), []);
  for (const id of [completed.id, shipped.id, canceled.id]) {
    assertError(await alice.delete(`${orders}/${id}`), { status: 409, code: 'CONFLICT' });
    assertError(await alice.put(`${orders}/${id}`, { items }), { status: 409, code: 'CONFLICT' });
  }
});

test('a step that is sent twice, or at once, happens once', async () => {
  const one = await order();
  const put = () =>
    alice.put(`${orders}/${one.id}`, { status: 'completed' }, { 'idempotency-key': 'complete' });
  const answers = await Promise.all([put(), put(), put()]);
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 200, 200],
  );
  assert.equal((await transactionsOf(one.id)).length, 1);
  const other = await order();
  const steps = await Promise.all(Array.from({ length: 4 }, () => step(other.id, 'completed')));
  assert.deepEqual(steps.map(({ status }) => status).sort(), [200, 409, 409, 409]);
  assert.equal((await transactionsOf(other.id)).length, 1);
});

test('a customer with orders stays', async () => {
  assertError(await alice.delete(`${customers}/${customer.id}`), { status: 409, code: 'CONFLICT' });
});

test('orders of another user do not exist', async () => {
  const { id } = await order();
  const budget = await alice.create('/api/budgets', { name: 'Food', limit: 1 });
  const own = await bob.create(customers, { name: 'Own' });
  for (const answer of [
    await bob.get(`${customers}/${customer.id}`),
    await bob.put(`${customers}/${customer.id}`, { name: 'x' }),
    await bob.delete(`${customers}/${customer.id}`),
    await bob.get(`${orders}/${id}`),
    await bob.put(`${orders}/${id}`, { status: 'completed' }),
    await bob.delete(`${orders}/${id}`),
    await bob.post(orders, { customerId: customer.id, items }),
    await bob.post(orders, { customerId: own.id, budgetId: budget.id, items }),
  ])
    assertError(answer, { status: 404, code: 'NOT_FOUND' });
});

test('invalid customers and orders are refused, with the field', async () => {
  for (const [body, field] of [
    [{}, 'name'],
    [{ name: '' }, 'name'],
    [{ name: 'x', email: 'no address' }, 'email'],
  ] as const)
    assertError(await alice.post(customers, body), { status: 400, code: 'VALIDATION_FAILED', field });
  const good = { customerId: customer.id, items };
  const one = items[0];
  for (const [body, field] of [
    [{ items }, 'customerId'],
    [{ ...good, items: [] }, 'items'],
    [{ ...good, items: [{ ...one, quantity: 0 }] }, 'items[0].quantity'],
    [{ ...good, items: [{ ...one, quantity: 1.5 }] }, 'items[0].quantity'],
    [{ ...good, items: [one, { ...one, unitAmount: 'x' }] }, 'items[1].unitAmount'],
    [{ ...good, items: [{ ...one, quantity: 1_000_000, unitAmount: '9999999999999.99' }] }, 'items'],
    [{ ...good, currency: 'XYZ' }, 'currency'],
  ] as const)
    assertError(await alice.post(orders, body), { status: 400, code: 'VALIDATION_FAILED', field });
  const { id } = await order();
  assertError(await alice.put(`${orders}/${id}`, { status: 'lost' }), {
    status: 400,
    code: 'VALIDATION_FAILED',
    field: 'status',
  });
});
