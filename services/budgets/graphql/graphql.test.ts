import assert from 'node:assert/strict';
import { StatementSync } from 'node:sqlite';
import { after, test } from 'node:test';
import { auditServer } from 'graphql-http';
import { startBudgets } from '../testing.ts';

let statements = 0;
for (const method of ['all', 'get', 'run', 'iterate'] as const) {
  const original = StatementSync.prototype[method] as (...given: unknown[]) => unknown;
  Object.assign(StatementSync.prototype, {
    [method](this: StatementSync, ...given: unknown[]) {
      statements++;
      return original.apply(this, given);
    },
  });
}

const service = await startBudgets();
after(() => service[Symbol.asyncDispose]());
const alice = await service.person('alice');

test('the audit of GraphQL over HTTP passes as a whole', async () => {
  const results = await auditServer({
    url: `${service.url}/api/graphql`,
    fetchFn: (url: string, options: RequestInit = {}) =>
      fetch(url, {
        ...options,
        headers: { ...(options.headers as object), authorization: `Bearer ${alice.token}` },
      }),
  });
  assert.deepEqual(
    results.filter(({ status }) => status !== 'ok').map(({ name }) => name),
    [],
  );
  assert.ok(results.length > 50);
});

test('a list costs the same number of statements, however long it is', async () => {
  const dora = await service.person('dora');
  const query =
    '{ budgets { name spent other: spent(period: "2026-03") expenses(first: 5) { totalCount edges { node { budget { name } } } } } }';
  const counts: number[] = [];
  for (const round of [1, 40]) {
    for (let made = 0; made < round; made++) {
      const { id } = await dora.create('/api/budgets', {
        name: `Budget ${made}`,
        limit: 10,
        period: 'monthly',
      });
      await dora.create('/api/expenses', { budgetId: id, description: 'Tea', amount: 1 });
    }
    const before = statements;
    const { data, errors } = (await dora.post('/api/graphql', { query })).json;
    assert.equal(errors, undefined);
    counts.push(statements - before);
    assert.equal(data.budgets.at(-1).expenses.edges[0].node.budget.name, 'Budget 0');
  }
  // Background work adds a few.
  const [one = 0, many = 0] = counts;
  assert.ok(many < one + 10, `${many} for many, ${one} for one`);
});
