import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '@octavo/core';
import { PageClient, testContext, testFolder } from '@octavo/testing';
import { TestProvider, Walker } from '@octavo/testing/sign-in';
import { loadDemo } from './service.ts';
import { personOf, startBudgets } from './testing.ts';

test('demo data is loaded once, spread over 90 days, with an account to sign in', async () => {
  const environment = { ARGON2_MEMORY_KIB: '8', ARGON2_PASSES: '1' };
  const clock = new FakeClock(Date.UTC(2026, 2, 15, 12));
  const context = testContext('budgets', { clock });
  assert.deepEqual(await loadDemo(environment, { ...context, environment: 'production' }), {
    expenses: 0,
    signIns: [],
  });
  const first = await loadDemo(environment, context);
  assert.ok(first && first.expenses > 100);
  assert.deepEqual(await loadDemo(environment, context), { ...first, expenses: 0 });

  await using app = await startBudgets({ folder: context.dataFolder, environment: { DATABASE_URL: '' } });
  const [signIn] = app.demoSignIns;
  assert.deepEqual(signIn, first.signIns[0]);
  const { username: email = '', password = '' } = signIn ?? {};
  const { json } = await app.send('/api/auth/login', { body: { email, password } });
  const demo = personOf(app.send, { id: json.user.id, email, token: json.token });
  const budgets = (await demo.get('/api/budgets')).json;
  assert.ok(budgets.length >= 8);
  const rules = (await demo.get('/api/rules')).json;
  assert.deepEqual(
    rules.map(({ position }: { position: number }) => position),
    [1, 2, 3],
  );
  const months = (await demo.get('/api/reports/by-month')).json.map(({ month }: { month: string }) => month);
  assert.deepEqual([...new Set(months)], ['2025-12', '2026-01', '2026-02', '2026-03']);
  const statuses = (await demo.get('/api/orders')).json.map(({ status }: { status: string }) => status);
  assert.deepEqual(statuses.sort(), ['completed', 'delivered', 'pending', 'shipped']);
});

test('demo data does not go into an account that was registered with its address', async () => {
  const folder = testFolder('budgets');
  await using app = await startBudgets({ folder, environment: { DATABASE_URL: '' } });
  const body = { email: 'demo@example.com', username: 'demo', password: 'ferries wait in fog' };
  assert.equal((await app.send('/api/auth/register', { body })).status, 201);
  const context = testContext('budgets', { dataFolder: folder });
  assert.equal(await loadDemo({ ARGON2_MEMORY_KIB: '8', ARGON2_PASSES: '1' }, context), undefined);
});

test('demo people of the suite get the demo data too, whether they sign in before or after it is loaded', async () => {
  await using provider = await TestProvider.start();
  for (const role of ['editor', 'reader'])
    provider.people.set(role, { sub: role, email: `${role}@demo.example`, email_verified: true });
  provider.people.set('eve', { sub: 'eve', email: 'eve@example.com', email_verified: true });
  const folder = testFolder('budgets');
  const address = 'https://budgets.example';
  const environment = { ...provider.settingsFor('budgets'), OIDC_ADDRESS: address, DATABASE_URL: '' };
  await using app = await startBudgets({ folder, environment });
  provider.addClient('budgets', address);
  const budgetsOf = async (person: string) => {
    provider.person = person;
    const walker = new Walker(new PageClient(app.url));
    await walker.signIn('/budgets');
    return (await walker.client.open('/budgets')).html;
  };
  assert.match(await budgetsOf('editor'), /No budgets yet/);
  const context = testContext('budgets', { dataFolder: folder });
  await loadDemo({ ARGON2_MEMORY_KIB: '8', ARGON2_PASSES: '1' }, context);
  assert.match(await budgetsOf('editor'), /Groceries/);
  assert.match(await budgetsOf('reader'), /Groceries/);
  assert.match(await budgetsOf('eve'), /No budgets yet/);
});
