import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { assertError, startBudgets } from './testing.ts';

const service = await startBudgets();
after(() => service[Symbol.asyncDispose]());
const alice = await service.person('alice');
const { id: budgetId } = await alice.create('/api/budgets', { name: 'Food', limit: 100 });
const { id: customerId } = await alice.create('/api/customers', { name: 'Ada' });
await alice.create('/api/expenses', { budgetId, description: 'Tea', amount: 1 });

test('a cursor that no page gave is refused', async () => {
  const places = [
    ...['x', '', '[]', '{}', '[1]x', '["a"]', '[null]', '[1,2,3]', '[1.5]', '[1e300]', '[-1e300]'],
    ...['[1.5,"a"]', '[1e300,"a"]', '[1,"a\\u0000"]', '[1.5,1.5]', '[1e300,1e300]', '["x",1.5]'],
  ];
  const lists = [
    ...['budgets', 'customers', 'orders', 'transactions', 'notifications', 'recurring', 'tasks', 'expenses'],
    ...['spentOn', '-amount', 'amount', '-createdAt'].map((sort) => `expenses?sort=${sort}`),
    `expenses/${budgetId}`,
  ];
  for (const list of lists)
    for (const place of places) {
      const cursor = Buffer.from(place).toString('base64url');
      const path = `/api/${list}${list.includes('?') ? '&' : '?'}cursor=${cursor}`;
      assertError(await alice.get(path), { status: 400, code: 'INVALID_INPUT', field: 'cursor' });
    }
});

test('If-Match is met by a strong tag of the current version, alone or in a list, and by *', async () => {
  const met = ['"v1"', '*', ' * ', '"v2", "v1"', 'W/"v1", "v1"', '"a,b","v1"', ', "v1" ,'];
  const unmet = [
    ...['W/"v1"', '"v2"', '"V1"', '"v01"', '"v1.0"', '"v-1"', '""', '"*"', '"v999999999999999999"', ''],
    ...['v1', '"', '"v1', 'v1"', '"v1""v2"', '"v1" junk', 'junk "v1"', '* , "v1"', '"v1", *'],
  ];
  for (const tag of [...met, ...unmet]) {
    const { id } = await alice.create('/api/budgets', { name: 'Trips', limit: 1 });
    const response = await alice.put(`/api/budgets/${id}`, { name: 'Travel' }, { 'if-match': tag });
    if (met.includes(tag)) assert.equal(response.status, 200, `${tag}: ${response.text}`);
    else assertError(response, { status: 412, code: 'PRECONDITION_FAILED' });
    const isTag = /^"[^" ]*"$/.test(tag);
    if (!met.includes(tag)) assert.equal(/changed by someone else/.test(response.text), isTag, response.text);
  }
});

test('a text that no database can hold is refused in every field, parameter and path', async () => {
  const expense = { budgetId, description: 'Tea', amount: 1 };
  const items = [{ description: 'Chair', quantity: 1, unitAmount: 1 }];
  const bodies: readonly [string, object, readonly string[]][] = [
    ['/api/budgets', { name: 'Food', limit: 1 }, ['name', 'currency', 'period', 'startDate', 'limit']],
    ['/api/expenses', expense, ['budgetId', 'description', 'category', 'notes', 'externalId', 'spentOn']],
    ['/api/customers', { name: 'Ada' }, ['name', 'email', 'phone']],
    ['/api/orders', { customerId, items }, ['customerId', 'budgetId', 'currency']],
    [
      '/api/transactions',
      { type: 'debit', description: 'x', amount: 1, currency: 'USD' },
      ['description', 'budgetId', 'expenseId', 'currency'],
    ],
    ['/api/notifications', { message: 'x' }, ['title', 'message']],
    ['/api/recurring', { ...expense, freq: 'daily' }, ['budgetId', 'description', 'timezone', 'start']],
    ['/api/search/expenses', { query: 'x' }, ['query', 'budgetId', 'from']],
  ];
  for (const [path, body, fields] of bodies)
    for (const field of fields)
      for (const text of ['a\0b', '\ud800']) {
        const response = await alice.post(path, { ...body, [field]: text });
        assertError(response, { status: 400, code: 'VALIDATION_FAILED', field });
      }
  for (const name of ['budgetId', 'category', 'tag', 'q', 'from', 'minAmount', 'sort', 'cursor'])
    assertError(await alice.get(`/api/expenses?${name}=a%00b`), {
      status: 400,
      code: 'INVALID_INPUT',
      field: name,
    });
  for (const path of ['budgets', 'expenses', 'expenses/item', 'transactions/user', 'tasks', 'notifications'])
    assertError(await alice.get(`/api/${path}/a%00b`), { status: 400, code: 'INVALID_INPUT' });
});
