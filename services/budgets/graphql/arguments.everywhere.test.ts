import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startBudgets } from '../testing.ts';

const service = await startBudgets();
after(() => service[Symbol.asyncDispose]());
const alice = await service.person('alice');

/** The code of each error of a response, with the first field that it names. */
async function problems(query: string, variables: object = {}): Promise<string[]> {
  const { status, text, json } = await alice.post('/api/graphql', { query, variables });
  assert.equal(status, 200, text);
  return (json.errors ?? []).map(
    ({ extensions }: { extensions: { code: string; fields?: object } }) =>
      `${extensions.code} ${Object.keys(extensions.fields ?? {})[0] ?? ''}`,
  );
}

test('a text that no database can hold is refused in every argument', async () => {
  const fields = {
    'query ($x: ID!) { budget(id: $x) { id } }': 'id',
    'query ($x: String) { budgets(after: $x) { id } }': 'after',
    'query ($x: ID) { expenses(budgetId: $x) { id } }': 'budgetId',
    'query ($x: String!) { searchExpenses(query: $x) { total } }': 'query',
    'mutation ($x: ID!) { deleteBudget(id: $x) }': 'id',
    'mutation ($x: ID!) { deleteExpense(id: $x) }': 'id',
    'mutation ($x: ID!) { markNotificationRead(id: $x) { id } }': 'id',
    'mutation ($x: ID!) { updateBudget(id: $x, input: { name: "a" }) { id } }': 'id',
    'mutation ($x: ID!) { addExpense(input: { budgetId: $x, description: "a", amount: 1 }) { id } }':
      'budgetId',
    'mutation ($x: String!) { createBudget(input: { name: $x, limit: 1 }) { id } }': 'name',
  };
  for (const [query, field] of Object.entries(fields))
    for (const x of ['a\0b', '\ud800'])
      assert.deepEqual(await problems(query, { x }), [`VALIDATION_FAILED ${field}`], query);
  assert.deepEqual(await problems('{ budget(id: "a\\u0000") { id } }'), ['VALIDATION_FAILED id']);
});

test('a variable that is missing or of another type is refused, also when its document is compiled', async () => {
  const query = 'mutation ($x: Decimal!) { createBudget(input: { name: "a", limit: $x }) { id } }';
  const refused = [null, undefined, {}, true, '1,000', 1e300, '9'.repeat(400)];
  for (const round of [1, 2, 3])
    for (const x of [1, ...refused]) {
      const expected = x === 1 ? [] : ['VALIDATION_FAILED '];
      assert.deepEqual(await problems(query, { x }), expected, `round ${round}, ${x}`);
    }
});
