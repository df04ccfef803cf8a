import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Tab, testBrowser } from '@octavo/testing/browser';
import { type Person, password, startBudgets, type TestBudgets } from './testing.ts';

const browser = testBrowser();

describe('in a browser', { skip: browser.skip }, () => {
  let app: TestBudgets;
  let alice: Person;
  let budgetId: string;
  let expenseId: string;
  before(async () => {
    app = await startBudgets();
    alice = await app.person();
    const long = 'Groceries, household and a VeryLongWordWithoutAnySpacesThatMustNotWidenThePage';
    ({ id: budgetId } = await alice.create('/api/budgets', { name: long, limit: 400, period: 'monthly' }));
    const trip = await alice.create('/api/budgets', { name: 'Trip', limit: 90, currency: 'EUR' });
    const expense = {
      description: long,
      amount: 12.5,
      category: 'Food',
      tags: ['work'],
      spentOn: '2026-02-01',
    };
    const noted = { ...expense, budgetId, notes: 'Paid in cash' };
    ({ id: expenseId } = await alice.create('/api/expenses', noted));
    await alice.create('/api/rules', { contains: 'Tea', category: 'Food', tags: ['hot'] });
    await alice.create('/api/rules', { contains: 'Rent', category: 'Home' });
    await alice.create('/api/expenses', {
      ...expense,
      budgetId: trip.id,
      amount: 100,
      spentOn: '2026-03-02',
    });
    await alice.create('/api/recurring', { budgetId, description: 'Rent', amount: 11, freq: 'monthly' });
    await alice.create('/api/customers', { name: 'Ada', email: 'ada@example.com' });
  });
  after(() => app?.[Symbol.asyncDispose]());

  async function signIn({ page }: Tab, next = '/budgets'): Promise<void> {
    await page.goto(`/sign-in?next=${next}`);
    await page.getByLabel('E-mail address').fill(alice.email);
    await page.getByLabel('Password').fill(password);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.waitForURL(`**${next}`);
  }

  for (const [colorScheme, widthPx] of [
    ['light', 1_280],
    ['dark', 390],
  ] as const) {
    test(`pages have no barriers, ${colorScheme}, ${widthPx} px`, async () => {
      const tab = await browser.open({ colorScheme, widthPx, baseUrl: app.url });
      const check = async (...paths: string[]) => {
        for (const path of paths) {
          await tab.page.goto(path);
          assert.deepEqual(await tab.barriers(), [], `${path} at ${widthPx} px`);
        }
      };
      await check('/verify-email?token=x');
      await signIn(tab);
      await check('/expenses?q=groc', '/expenses/new');
      await check('/rules/new?contains=groc&category=Food', `/budgets/${budgetId}?categorized=${expenseId}`);
      await alice.create('/api/expenses', { description: 'Kiosk', amount: 1 });
      await check('/rules/sort');
      await check('/settings');
      await tab.page.getByLabel('New password').fill('short');
      await tab.page.getByRole('button', { name: 'Change password' }).click();
      await tab.page.getByText('The password is wrong').waitFor();
      assert.deepEqual(await tab.barriers(), [], 'the form again');
      assert.deepEqual(
        tab.complaints.filter((text) => !/status of 4/.test(text)),
        [],
      );
    });
  }

  test('an expense is entered by keyboard, and another tab shows it at once', async () => {
    const [one, other] = [await browser.open({ baseUrl: app.url }), await browser.open({ baseUrl: app.url })];
    await Promise.all([signIn(one), signIn(other)]);
    const following = other.page.waitForResponse((response) => response.url().includes('/stream'));
    await other.page.goto(`/budgets/${budgetId}`);
    await following;
    await one.page.goto(`/budgets/${budgetId}`);
    // The day of the service's clock, which the other tab shows the period of.
    await one.page.getByLabel('Day').fill('2026-03-15');
    await one.page.getByLabel('What did you spend on?').fill('Espresso');
    await one.page.keyboard.press('Tab');
    await one.page.keyboard.type('3.20');
    await one.page.keyboard.press('Enter');
    await one.page.getByText('Espresso, US$3.20, was added').waitFor();
    await other.page.getByRole('link', { name: 'Espresso', exact: true }).waitFor();
    // What one does oneself is shown, and not announced; a message is.
    assert.equal(await other.page.getByText('Expense created').count(), 0);
    await alice.create('/api/notifications', { title: 'Reminder', message: 'Buy milk' });
    await other.page.getByText('Buy milk').waitFor();
    assert.deepEqual([...one.complaints, ...other.complaints], []);
  });

  test('a deletion asks in a dialog', async () => {
    const { id } = await alice.create('/api/expenses', { budgetId, description: 'Mistake', amount: 1 });
    const tab = await browser.open({ baseUrl: app.url });
    await signIn(tab, '/expenses');
    await tab.page.getByRole('link', { name: 'Delete Mistake' }).click();
    await tab.page.getByRole('dialog').getByRole('button', { name: 'Delete expense' }).click();
    await tab.page.getByText('Mistake was deleted').waitFor();
    assert.equal((await alice.get(`/api/expenses/item/${id}`)).status, 404);
  });

  test('a rule is moved by its button', async () => {
    const tab = await browser.open({ baseUrl: app.url });
    await signIn(tab, '/rules');
    await tab.page.getByRole('button', { name: 'Move up: Rent' }).click();
    await tab.page.getByRole('button', { name: 'Move down: Rent' }).waitFor();
    const rules = (await alice.get('/api/rules')).json;
    assert.deepEqual(
      rules.map(({ conditions: [first] }: { conditions: { value: string }[] }) => first?.value),
      ['Rent', 'Tea'],
    );
    assert.deepEqual(tab.complaints, []);
  });

  test('the form of an order gets a row whenever the last one is used', async () => {
    const tab = await browser.open({ baseUrl: app.url });
    await signIn(tab, '/orders/new');
    const rows = tab.page.locator('[data-items] tbody tr');
    for (const number of [1, 2, 3, 4]) {
      assert.equal(await rows.count(), number);
      await tab.page.getByLabel(`Item of item ${number}`).fill(`Chair ${number}`);
      await tab.page.getByLabel(`Quantity of item ${number}`).fill('1');
      await tab.page.getByLabel(`Price of item ${number}`).fill('10');
    }
    await tab.page.getByRole('button', { name: 'Create order' }).click();
    await tab.page.getByRole('heading', { name: 'Chair 1 and 3 other items' }).waitFor();
    assert.deepEqual(tab.complaints, []);
  });

  test('what is typed as an amount is shown as it is understood, also in rows that are added', async () => {
    const tab = await browser.open({ baseUrl: app.url });
    const { page } = tab;
    await signIn(tab, '/expenses/new');
    const amount = page.getByLabel('Amount');
    await amount.fill('12+3');
    await page.getByText('€15.00', { exact: true }).waitFor();
    assert.deepEqual(await tab.barriers(), []);
    await page.getByLabel('Currency', { exact: true }).selectOption('JPY');
    await page.getByText('JP¥15', { exact: true }).waitFor();
    await amount.fill('1,5');
    await page.getByText('Amount must be a whole number in JPY.').waitFor();
    assert.match((await amount.getAttribute('aria-describedby')) ?? '', /^reading-1$/);
    await amount.fill('');
    assert.equal(await page.locator('output').textContent(), '');
    await page.goto('/orders/new');
    await page.getByLabel('Price of item 1').fill('1');
    await page.getByLabel('Price of item 2').fill('2*4,50');
    await page.getByText('€9.00', { exact: true }).waitFor();
    assert.deepEqual(await tab.barriers(), []);
    assert.deepEqual(tab.complaints, []);
  });

  test('a new expense begins with the reader’s day, not that of UTC', async () => {
    const tab = await browser.open({ baseUrl: app.url });
    await signIn(tab);
    const local = await tab.page.evaluate(() => {
      const now = new Date();
      return new Date(now.getTime() - now.getTimezoneOffset() * 60_000).toISOString().slice(0, 10);
    });
    // The clock of the service stands on another day.
    assert.notEqual(local, '2026-03-15');
    for (const path of ['/budgets', '/expenses/new']) {
      await tab.page.goto(path);
      assert.equal(await tab.page.getByLabel('Day').inputValue(), local, path);
    }
  });

  test('GraphiQL runs a query', async () => {
    const tab = await browser.open({ baseUrl: app.url });
    const { page, complaints } = tab;
    await signIn(tab);
    await page.goto('/api/graphql');
    await page.getByRole('link', { name: 'Budgets', exact: true }).waitFor();
    await page.getByRole('button', { name: /Execute query/ }).click();
    await page.locator('.result-window', { hasText: '"name": "Trip"' }).waitFor();
    assert.deepEqual(complaints, []);
  });
});
