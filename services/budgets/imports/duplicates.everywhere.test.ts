import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { finished, type Person, startBudgets } from '../testing.ts';

const app = await startBudgets();
after(() => app[Symbol.asyncDispose]());

const importInto = async (person: Person, budgetId: string, content: string) => {
  const form = new FormData();
  form.append('file', new Blob([content]), 'file');
  form.append('budgetId', budgetId);
  const answer = await person.send('/api/import', { method: 'POST', body: form });
  assert.equal(answer.status, 202, answer.text);
  const { created, duplicates, failed } = (await finished(person, answer.json)).result;
  assert.equal(failed, 0);
  return [created, duplicates];
};
const begin = async (name: string) => {
  const person = await app.person(name);
  const budget = (name: string): Promise<{ id: string }> =>
    person.create('/api/budgets', { name, limit: 1_000 });
  const { id } = await budget('Bank');
  const idsOf = async () =>
    (await person.get('/api/expenses?sort=spentOn')).json.map(
      ({ externalId, description }: Record<string, string | null>) => `${externalId} ${description}`,
    );
  return { person, id, budget, idsOf };
};
const ofx = (accounts: Record<string, string[]>) =>
  `<OFX>${Object.entries(accounts)
    .map(([account, rows]) => {
      const written = rows.map((row) => {
        const [id, day, amount, name] = row.split(' ');
        return `<STMTTRN><DTPOSTED>${day}<TRNAMT>-${amount}<FITID>${id}<NAME>${name}</STMTTRN>`;
      });
      return `<BANKACCTFROM><ACCTID>${account}</BANKACCTFROM><BANKTRANLIST>${written.join('')}</BANKTRANLIST>`;
    })
    .join('')}</OFX>`;
const csv = (...rows: string[]) => `spentOn,description,amount\n${rows.join('\n')}\n`;

test('an id counts with its account, day and amount', async () => {
  const { person, id } = await begin('ids');
  const file = ofx({
    A: ['1 20260503 7.20 Tea', '1 20260503 0.30 Fee', '1 20260504 7.20 Tea', '1 20260503 7.20 Tea'],
    B: ['1 20260503 7.20 Cake'],
  });
  assert.deepEqual(await importInto(person, id, file), [4, 1]);
  assert.deepEqual(await importInto(person, id, file), [0, 5]);
});

test('a row without an id is the same as one of its day and amount, which gets the id of a later file', async () => {
  const { person, id, idsOf } = await begin('formats');
  const month = csv('2026-05-03,TEA HOUSE,7.20', '2026-05-03,TEA HOUSE,7.20', '2026-05-04,Rent,700');
  assert.deepEqual(await importInto(person, id, month), [3, 0]);
  const same = ofx({ A: ['1 20260503 7.20 Tea', '2 20260503 7.20 Tea', '3 20260503 7.20 Tea'] });
  assert.deepEqual(await importInto(person, id, same), [1, 2]);
  assert.deepEqual(await importInto(person, id, same), [0, 3]);
  assert.deepEqual(await importInto(person, id, month), [0, 3]);
  const ids = ['1 TEA HOUSE', '2 TEA HOUSE', '3 Tea', 'null Rent'];
  assert.deepEqual((await idsOf()).sort(), ids);
});

test('a row of another shop with the same day and amount is another row, and so is what was typed', async () => {
  const { person, id } = await begin('shops');
  const typed = { budgetId: id, description: 'Tea with Ann', amount: 7.2, spentOn: '2026-05-03' };
  await person.create('/api/expenses', typed);
  assert.deepEqual(await importInto(person, id, csv('2026-05-03,Tea,7.20')), [1, 0]);
  assert.deepEqual(await importInto(person, id, csv('2026-05-03,Cake,7.20')), [1, 0]);
  assert.deepEqual(await importInto(person, id, csv('2026-05-03,Tea,7.20', '2026-05-03,Cake,7.20')), [0, 2]);
});

test('an expense that was moved or corrected still counts as imported', async () => {
  const { person, id, budget, idsOf } = await begin('moved');
  const file = csv('2026-05-03,Tea,7.20', '2026-05-04,Cake,3.00');
  await importInto(person, id, file);
  const { json } = await person.get('/api/expenses');
  const other = await budget('Other');
  await person.put(`/api/expenses/${json[0].id}`, { budgetId: other.id });
  await person.put(`/api/expenses/${json[1].id}`, { amount: 6, description: 'Green tea' });
  assert.deepEqual(await importInto(person, id, file), [0, 2]);
  await person.delete(`/api/expenses/${json[0].id}`);
  assert.deepEqual(await importInto(person, other.id, file), [1, 1]);
  assert.equal((await idsOf()).length, 2);
});
