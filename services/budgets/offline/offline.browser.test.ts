import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { testFolder, until } from '@octavo/testing';
import { startBrowserProcess, type Tab, testBrowser } from '@octavo/testing/browser';
import { startBalancer, startGate } from '@octavo/testing/engines';
import { type Person, password, startBudgets } from '../testing.ts';

type Page = Tab['page'];

const browser = testBrowser();

async function signIn(page: Page, origin: string, { email }: Pick<Person, 'email'>): Promise<void> {
  await page.goto(`${origin}/sign-in`);
  await page.getByLabel('E-mail address').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.waitForURL('**/budgets');
}

const cacheNames = (page: Page) => page.evaluate<string[]>('caches.keys()');

/** Waits until the first pages are kept. */
async function whenKept(page: Page): Promise<void> {
  await until(() =>
    page.evaluate<boolean>(
      "Promise.all(['/expenses/new', '/budgets'].map((path) => caches.match(path))).then((kept) => kept.every(Boolean))",
    ),
  );
}

async function add(page: Page, description: string, amount: string): Promise<void> {
  await page.getByLabel('Description').fill(description);
  await page.getByLabel('Amount').fill(amount);
  await page.getByRole('button', { name: 'Add expense' }).click();
}

const onDevice = (page: Page) => page.locator('[data-outbox]');

describe('without a network', { skip: browser.skip }, () => {
  test('an expense that is typed is there once when the browser was killed and the network is back', async () => {
    await using app = await startBudgets();
    const alice = await app.person();
    const { id: budgetId } = await alice.create('/api/budgets', { name: 'Food', limit: 400 });
    const gate = await startGate(new URL(app.url).host);
    const origin = `http://${gate.address}`;
    const profile = testFolder('profile');
    await using before = await startBrowserProcess(profile);
    await signIn(before.page, origin, alice);
    await whenKept(before.page);
    await before.page.goto(`${origin}/budgets/${budgetId}`);
    await before.page.goto(`${origin}/expenses/new`);
    await before.close();
    gate.cut();
    await using first = await startBrowserProcess(profile);
    // Pages that were seen are there, others say why they are not.
    await first.page.goto(`${origin}/budgets/${budgetId}`);
    await first.page.getByRole('heading', { name: 'Food' }).waitFor();
    await first.page.getByText('This page is from').waitFor();
    await first.page.goto(`${origin}/reports`);
    await first.page.getByRole('heading', { name: 'You are offline' }).waitFor();
    await first.page.getByRole('link', { name: 'Add expense' }).click();
    await add(first.page, 'Coffee', '4.20');
    await onDevice(first.page).getByText('1 expense is on this device only').waitFor();
    await first.kill();

    // The response is lost: the page does not know that the expense is there, and sends it again.
    gate.cutResponseTo('POST /expenses/offline');
    gate.open();
    await using second = await startBrowserProcess(profile);
    const { page } = second;
    await page.goto(`${origin}/expenses/new`);
    await until(async () => (await alice.get('/api/expenses')).json.length === 1);
    gate.cut();
    app.clock.advance(3 * 24 * 3_600_000);
    gate.open();
    await page.goto(`${origin}/budgets`);
    await page.getByRole('heading', { name: 'Budgets' }).first().waitFor();
    await onDevice(page).waitFor({ state: 'detached' });
    const { json } = await (await app.signIn(alice)).get('/api/expenses');
    assert.deepEqual(
      json.map(({ description, amount }: Record<string, unknown>) => [description, amount]),
      [['Coffee', 4.2]],
    );
    assert.match(json[0].externalId, /^offline:[0-9a-f-]{36}$/);
  });

  test('what the server refuses stays with the reason; signing out asks, and leaves nothing behind', async () => {
    await using app = await startBudgets();
    const alice = await app.person();
    await alice.create('/api/budgets', { name: 'Food', limit: 400 });
    const { page, complaints } = await browser.open({ baseUrl: app.url, widthPx: 390 });
    await signIn(page, app.url, alice);
    await whenKept(page);
    await page.context().setOffline(true);
    await page.goto('/expenses/new');
    await add(page, 'Tea', 'much');
    const problem = await page.evaluate("document.querySelector('[name=amount]').validationMessage");
    assert.equal(problem, 'Amount must be a number such as 12.50.');
    await add(page, 'Tea', '5 much');
    await onDevice(page).getByText('Tea, 5 much').waitFor();
    await page.context().setOffline(false);
    await onDevice(page).getByText('Amount must be in USD, not much').waitFor();
    await onDevice(page).getByRole('button', { name: 'Edit' }).click();
    await onDevice(page).getByText('in the form below').waitFor();
    assert.equal(await page.getByLabel('Description').inputValue(), 'Tea');
    // Left without an end, it is still there.
    await page.goto('/expenses/new');
    await onDevice(page).getByText('Tea, 5 much').waitFor();
    await onDevice(page).getByRole('button', { name: 'Edit' }).click();
    await onDevice(page).getByText('in the form below').waitFor();
    await page.context().setOffline(true);
    await add(page, 'Tea', '1000000000000000000');
    await onDevice(page).getByText('Tea, 1000000000000000000').waitFor();
    await page.context().setOffline(false);
    await onDevice(page).getByRole('button', { name: 'Edit' }).waitFor();

    await page.goto('/budgets');
    const asked: string[] = [];
    page.on('dialog', async (dialog) => {
      asked.push(dialog.message());
      await (asked.length === 1 ? dialog.dismiss() : dialog.accept());
    });
    await page.getByRole('button', { name: 'Menu' }).click();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await until(() => asked.length === 1);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByText('You are signed out.').waitFor();
    assert.match(asked[1] ?? '', /not sent yet.*Tea/s);
    assert.deepEqual(
      (await cacheNames(page)).filter((name) => name.includes('account')),
      [],
    );
    const kept = await page.evaluate(`new Promise((resolve) => {
      const opening = indexedDB.open('budgets', 1);
      opening.onsuccess = () => {
        const all = opening.result.transaction('kept').objectStore('kept').count();
        all.onsuccess = () => resolve(all.result);
      };
    })`);
    assert.equal(kept, 0);
    assert.deepEqual((await alice.get('/api/expenses')).json, []);
    const others = complaints.filter((text) => !/ERR_INTERNET_DISCONNECTED|status of 4/.test(text));
    assert.deepEqual(others, []);
  });

  test('a second tap is no second expense; one in a form waits for it, and is sent as it was once that page is left', async () => {
    await using app = await startBudgets();
    const alice = await app.person();
    await alice.create('/api/budgets', { name: 'Food', limit: 400 });
    const { page } = await browser.open({ baseUrl: app.url, widthPx: 390 });
    await signIn(page, app.url, alice);
    await whenKept(page);
    await page.context().setOffline(true);
    await page.goto('/expenses/new');
    await page.getByLabel('Description').fill('Milk');
    await page.getByLabel('Amount').fill('2');
    await page.evaluate(`{
      const form = document.querySelector('form[action="/expenses"]');
      form.requestSubmit();
      form.requestSubmit();
    }`);
    await onDevice(page).getByText('1 expense is on this device only').waitFor();
    await add(page, 'Bread', '3');
    await onDevice(page).getByText('2 expenses are').waitFor();
    const line = (name: string) => onDevice(page).getByRole('listitem').filter({ hasText: name });
    await line('Bread').getByRole('button', { name: 'Edit' }).click();
    await line('Bread').getByText('in the form below').waitFor();
    await page.context().setOffline(false);
    await page.getByText('Milk, 2 was sent.').waitFor();
    await line('Bread').getByText('in the form below').waitFor();
    const sent = async () =>
      (await alice.get('/api/expenses')).json
        .map(({ description, amount }: Record<string, unknown>) => `${description} ${amount}`)
        .sort();
    assert.deepEqual(await sent(), ['Milk 2']);
    // Another tab does not send it either.
    const other = await page.context().newPage();
    await other.goto('/expenses/new');
    await onDevice(other).getByRole('button', { name: 'Edit' }).click();
    await other.getByText('Bread, 3 is being sent, or is open in another tab.').waitFor();
    assert.deepEqual(await sent(), ['Milk 2']);
    await page.close();
    await other.goto('/expenses/new');
    await other.getByText('Bread, 3 was sent.').waitFor();
    await other.context().setOffline(true);
    await other.goto('/expenses/new');
    await add(other, 'Tea', '4');
    await onDevice(other).getByRole('button', { name: 'Edit' }).click();
    await onDevice(other).getByText('in the form below').waitFor();
    await add(other, 'Tea', '5');
    await onDevice(other).getByText('Tea, 5').waitFor();
    await other.getByText('This page is from').waitFor();
    await other.context().setOffline(false);
    await other.getByText('Tea, 5 was sent.').waitFor();
    await other.getByText('This page is from').waitFor({ state: 'detached' });
    assert.deepEqual(await sent(), ['Bread 3', 'Milk 2', 'Tea 5']);
  });

  test('a session that ended takes the pages away, not what was typed; the server turns the worker off', async () => {
    const app = await startBudgets();
    const alice = await app.person();
    await alice.create('/api/budgets', { name: 'Food', limit: 400 });
    const balancer = await startBalancer();
    balancer.put(app.url);
    const { page } = await browser.open({ baseUrl: balancer.url });
    await signIn(page, balancer.url, alice);
    await whenKept(page);
    await page.context().setOffline(true);
    await page.goto('/expenses/new');
    await add(page, 'Bread', '2');
    await onDevice(page).getByText('Bread, 2').waitFor();
    const cookies = await page.context().cookies();
    await page.context().clearCookies();
    await page.context().setOffline(false);
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await until(async () => !(await cacheNames(page)).some((name) => name.includes('account')));

    await using other = await startBudgets({ beside: app, environment: { BUDGETS_OFFLINE: 'off' } });
    balancer.put(other.url);
    await app[Symbol.asyncDispose]();
    await page.context().addCookies(cookies);
    await page.goto('/budgets');
    await page.getByText('Bread, 2 was sent.').waitFor();
    await until(() =>
      page.evaluate<boolean>('navigator.serviceWorker.getRegistrations().then(({ length }) => length === 0)'),
    );
    assert.deepEqual(await cacheNames(page), []);
  });
});
