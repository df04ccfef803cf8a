import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { assertError, finished, type Person, startBudgets } from '../testing.ts';
import { signedInClient } from '../testing-pages.ts';

const app = await startBudgets();
after(() => app[Symbol.asyncDispose]());

const alice = await app.person('alice');
const bob = await app.person('bob');
const path = '/api/rules';

const orderOf = async (person: Person): Promise<string[]> =>
  (await person.get(path)).json.map(
    ({ position, conditions }: { position: number; conditions: { value: string }[] }) =>
      `${position} ${conditions[0]?.value}`,
  );

async function importCsv(person: Person, budgetId: string, content: string) {
  const form = new FormData();
  form.append('file', new Blob([content]), 'bank.csv');
  form.append('format', 'csv');
  form.append('budgetId', budgetId);
  const sent = await person.send('/api/import', { method: 'POST', body: form });
  assert.equal(sent.status, 202, sent.text);
  const task = await finished(person, sent.json);
  assert.equal(task.status, 'completed', task.error);
  return task.result;
}

test('a rule is added, read, changed, moved and deleted', async () => {
  const created = await alice.post(path, { contains: 'LIDL', category: 'Groceries', tags: ['food', 'food'] });
  assert.equal(created.status, 201, created.text);
  const { createdAt: _created, updatedAt: _updated, ...rule } = created.json;
  const { id } = rule;
  assert.deepEqual(rule, {
    id,
    position: 1,
    conditions: [{ field: 'description', op: 'contains', value: 'LIDL' }],
    match: 'all',
    set: { category: 'Groceries', addTags: ['food'] },
    transfer: false,
    enabled: true,
    version: 1,
  });
  assert.deepEqual((await alice.get(`${path}/${id}`)).json, created.json);
  for (const contains of ['Uber', 'Rent', 'Spotify'])
    await alice.create(path, { contains, category: 'Other' });
  assert.deepEqual(await orderOf(alice), ['1 LIDL', '2 Uber', '3 Rent', '4 Spotify']);
  await alice.create(path, { contains: 'First', category: 'Other', position: 1 });
  await alice.put(`${path}/${id}`, { position: 99 });
  assert.deepEqual(await orderOf(alice), ['1 First', '2 Uber', '3 Rent', '4 Spotify', '5 LIDL']);
  const moved = await alice.put(`${path}/${id}`, { position: 2, category: 'Food' });
  assert.deepEqual([moved.json.position, moved.json.set], [2, { category: 'Food', addTags: ['food'] }]);
  assert.deepEqual(await orderOf(alice), ['1 First', '2 LIDL', '3 Uber', '4 Rent', '5 Spotify']);
  const page = await alice.get(`${path}?limit=2`);
  const next = /<([^>]+)>; rel="next"/.exec(page.headers.get('link') ?? '')?.[1] ?? '';
  assert.deepEqual(
    [(await alice.get(next)).json[0].conditions[0].value, page.headers.get('x-total-count')],
    ['Uber', '5'],
  );
  assertError(await alice.put(`${path}/${id}`, { category: 'x' }, { 'if-match': '"v1"' }), {
    status: 412,
    code: 'PRECONDITION_FAILED',
  });
  assert.equal((await alice.delete(`${path}/${id}`)).json.id, id);
  assert.deepEqual(await orderOf(alice), ['1 First', '2 Uber', '3 Rent', '4 Spotify']);
});

test('rules of another user do not exist, and what is invalid is refused', async () => {
  const [{ id }] = (await alice.get(path)).json;
  assertError(await bob.get(`${path}/${id}`), { status: 404, code: 'NOT_FOUND' });
  assertError(await bob.put(`${path}/${id}`, { category: 'x' }), { status: 404, code: 'NOT_FOUND' });
  assertError(await bob.delete(`${path}/${id}`), { status: 404, code: 'NOT_FOUND' });
  assert.deepEqual((await bob.get(path)).json, []);
  assertError(await app.send(path), { status: 401, code: 'UNAUTHORIZED' });
  for (const [body, field] of [
    [{ category: 'x' }, 'contains'],
    [{ contains: 'x' }, 'category'],
    [{ contains: '  ', category: 'x' }, 'contains'],
    // An accent alone would be in every description.
    [{ contains: '\u0301', category: 'x' }, 'contains'],
    [{ contains: 'x', category: 'x', position: 0 }, 'position'],
    [{ contains: 'x', category: 'x', tags: ['a'.repeat(51)] }, 'tags[0]'],
  ] as const)
    assertError(await alice.post(path, body), { status: 400, code: 'VALIDATION_FAILED', field });
});

test('rules that are added and moved at once keep their places without holes', async () => {
  const carol = await app.person('carol');
  const added = await Promise.all(
    Array.from({ length: 12 }, (_, index) =>
      carol.post(path, { contains: `Part ${index}`, category: 'x', position: (index % 3) + 1 }),
    ),
  );
  await Promise.all(
    added.map(({ json }, index) => carol.put(`${path}/${json.id}`, { position: 12 - index })),
  );
  await Promise.all(added.slice(0, 4).map(({ json }) => carol.delete(`${path}/${json.id}`)));
  const positions = (await carol.get(path)).json.map(({ position }: { position: number }) => position);
  assert.deepEqual(positions, [1, 2, 3, 4, 5, 6, 7, 8]);
  const key = { 'idempotency-key': 'one-rule' };
  const twice = [await carol.post(path, { contains: 'Once', category: 'x' }, key)];
  twice.push(await carol.post(path, { contains: 'Once', category: 'x' }, key));
  assert.equal(twice[0]?.json.id, twice[1]?.json.id);
  assert.equal((await carol.get(path)).json.length, 9);
});

test('an account has at most 200 rules, also when they come at once', async () => {
  const frank = await app.person('frank');
  const body = { contains: 'x', category: 'y' };
  const addAtOnce = async (count: number) => {
    const added = await Promise.all(Array.from({ length: count }, () => frank.post(path, body)));
    return added.filter(({ status }) => status === 201).length;
  };
  // A busy machine may refuse some.
  for (let total = 0; total < 195; ) total += await addAtOnce(Math.min(39, 195 - total));
  const last = await Promise.all(Array.from({ length: 10 }, () => frank.post(path, body)));
  assert.deepEqual(last.map(({ status }) => status).sort(), [...Array(5).fill(201), ...Array(5).fill(409)]);
  assert.equal((await frank.get(`${path}?limit=500`)).json.length, 200);
});

test('an import sets each field by the first rule that fits and sets it, and keeps what the file says', async () => {
  const dora = await app.person('dora');
  const { id: budgetId } = await dora.create('/api/budgets', { name: 'Bank', limit: 1_000 });
  await dora.create(path, { contains: 'lidl', category: 'Groceries', tags: ['food'] });
  await dora.create(path, { contains: 'LIDL Reisen', category: 'Travel' });
  await dora.create(path, { contains: 'cafe 100%', category: 'Coffee' });
  await dora.create(path, { contains: 'LIDL Reisen', category: 'Travel', position: 1 });
  const file = [
    'spentOn,description,amount,category,tags',
    '2026-01-02,LIDL 4711 Berlin,12,,weekly',
    '2026-01-03,Lidl Reisen,300,,',
    '2026-01-04,LIDL,3,Gifts,',
    '2026-01-05,CAFÉ   100% Mitte,4,,',
    '2026-01-06,Cafe 100 Mitte,5,,',
  ].join('\n');
  const { readAs: _, ...result } = await importCsv(dora, budgetId, file);
  assert.deepEqual(result, {
    total: 5,
    created: 5,
    refunds: 0,
    incomes: 0,
    matched: 0,
    duplicates: 0,
    duplicateLines: [],
    skipped: [],
    failed: 0,
    errors: [],
  });
  const { json } = await dora.get(`/api/expenses/${budgetId}?sort=spentOn`);
  const shown = json.map(({ category, tags }: { category: string; tags: string[] }) => [category, ...tags]);
  assert.deepEqual(shown, [
    ['Groceries', 'weekly', 'food'],
    ['Travel', 'food'],
    ['Gifts', 'food'],
    ['Coffee'],
    [null],
  ]);
  // Found by its new category, and again by nothing: the file is a duplicate.
  assert.equal((await dora.post('/api/search/expenses', { query: 'groceries' })).json.total, 1);
  assert.equal((await importCsv(dora, budgetId, file)).duplicates, 5);
  // Another user's rules do not count.
  const { id: other } = await bob.create('/api/budgets', { name: 'Bank', limit: 1 });
  await importCsv(bob, other, file);
  assert.equal((await bob.get(`/api/expenses/${other}?sort=spentOn`)).json[0].category, null);
});

test('pages add, try, move and delete rules, and offer one for a category that was corrected', async () => {
  const erin = await app.person('erin');
  const client = await signedInClient(app, erin);
  assert.match((await client.open('/rules')).html, /No rules yet/);
  const { id: budgetId } = await erin.create('/api/budgets', { name: 'Bank', limit: 1_000 });
  const file = [
    'spentOn,description,amount',
    '2026-03-02,LIDL 1 <b>,12',
    '2026-03-03,Lidl 2,3',
    '2026-03-04,Rent,9',
  ];
  await importCsv(erin, budgetId, file.join('\n'));
  const [rent, second, first] = (await erin.get(`/api/expenses/${budgetId}?sort=-spentOn`)).json;

  const edited = {
    budgetId,
    description: first.description,
    amount: '12',
    spentOn: '2026-03-02',
    version: '1',
  };
  const saved = await client.send(`/expenses/${first.id}/edit`, { ...edited, category: 'Groceries' });
  assert.equal(saved.location, `/budgets/${budgetId}?categorized=${first.id}#expense-${first.id}`);
  const offer = (await client.open(saved.location)).html;
  assert.match(offer, /Always put “LIDL” into Bank and Groceries/);
  const address = /href="(\/rules\/new\?[^"]+)"/.exec(offer)?.[1]?.replaceAll('&amp;', '&') ?? '';
  const form = (await client.open(address)).html;
  assert.match(form, /Matches 2 of your 3 expenses/);
  assert.match(form, /Also change 1 expense that is there/);
  assert.doesNotMatch(form, /<b>,/);

  const containing = (value: string) => ({
    'conditions[0].field': 'description',
    'conditions[0].op': 'contains',
    'conditions[0].value': value,
    enabled: 'true',
  });
  const rule = { ...containing('lidl'), category: 'Groceries', tags: 'food, weekly' };
  const tried = await client.send('/rules', { ...rule, ...containing('nothing'), do: 'try' });
  assert.deepEqual([tried.status, /No matches in your 3 expenses/.test(tried.html)], [200, true]);
  assert.equal((await erin.get(path)).json.length, 0);
  assert.equal((await client.send('/rules', containing('lidl'))).status, 422);
  const wrong = { ...rule, 'conditions[0].field': 'amount', 'conditions[0].op': 'starts' };
  assert.match((await client.send('/rules', wrong)).html, /Value 1 must be a number/);
  const applied = await client.send('/rules', { ...rule, apply: 'true' });
  assert.match(
    (await client.open(applied.location)).html,
    /It changed 2 expenses[\s\S]*Last change: 2 expenses changed/,
  );
  const now = (await erin.get(`/api/expenses/item/${second.id}`)).json;
  assert.deepEqual([now.category, now.tags], ['Groceries', ['food', 'weekly']]);
  assert.equal((await erin.get(`/api/expenses/item/${rent.id}`)).json.category, null);
  // The rule gives it already, and a deleted expense is no reason to fail.
  assert.doesNotMatch((await client.open(saved.location)).html, /Always put/);
  await erin.delete(`/api/expenses/${first.id}`);
  assert.equal((await client.open(saved.location)).status, 200);

  await client.send('/rules', { ...containing('Rent'), category: 'Home' });
  const [one, two] = (await erin.get(path)).json;
  await client.send(`/rules/${two.id}/move`, { position: '1' });
  assert.deepEqual(await orderOf(erin), ['1 Rent', '2 lidl']);
  const change = { ...containing('LIDL'), category: 'Food', version: '2' };
  assert.equal((await client.send(`/rules/${one.id}/edit`, change)).status, 303);
  assert.equal((await client.send(`/rules/${one.id}/edit`, change)).status, 412);
  await client.open('/import');
  const sent = await client.upload(
    '/import',
    { name: 'b.csv', content: 'date,payee,amount\n2026-03-05,LIDL,1\n' },
    { budget: budgetId },
  );
  const preview = (await client.open(sent.location)).html;
  assert.match(preview, /Food [\s\S]{0,60}by rule/);
  await client.send(`/rules/${one.id}/delete`, {});
  assert.deepEqual(await orderOf(erin), ['1 Rent']);
  assert.equal((await (await signedInClient(app, bob)).open(`/rules/${two.id}/edit`)).status, 404);
});

test('an assignment of many proposes a rule, with the number of expenses that it would change', async () => {
  const gina = await app.person('gina');
  const client = await signedInClient(app, gina);
  const { id: budgetId } = await gina.create('/api/budgets', { name: 'Groceries', limit: 100 });
  const spend = (description: string) => gina.create('/api/expenses', { description, amount: 1 });
  const [{ id }] = [await spend('REWE 1'), await spend('REWE 2'), await spend('REWE 3')];
  await client.open('/expenses?budget=none');
  const sent = await client.send('/expenses/bulk', { id, 'to-budget': budgetId, 'filter-budget': 'none' });
  const list = (await client.open(sent.location)).html;
  assert.match(list, /Always put “REWE” into Groceries/);
  const address = /href="(\/rules\/new\?[^"]+)"/.exec(list)?.[1]?.replaceAll('&amp;', '&') ?? '';
  assert.match((await client.open(address)).html, /Also change 2 expenses that are there/);
});
