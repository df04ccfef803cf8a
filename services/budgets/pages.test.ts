import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { PageClient } from '@octavo/testing';
import { finished, password, startBudgets } from './testing.ts';
import { linkTokenOf, nextMail } from './testing-mails.ts';
import { signedInClient } from './testing-pages.ts';
import { SocketClient } from './testing-sockets.ts';

const app = await startBudgets();
after(() => app[Symbol.asyncDispose]());

const attack = '"><script>alert(1)</script>';
const escaped = '&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;';

describe('accounts', () => {
  test('a person signs up, is led to where they wanted, verifies the address, and signs out', async () => {
    const client = new PageClient(app.url);
    const stranger = await client.open('/reports?from=2026-01-01');
    assert.equal(stranger.status, 401);
    assert.match(stranger.html, /name="next" value="\/reports\?from=2026-01-01"/);
    await client.open('/sign-up?next=/reports');
    const twoLines = { email: 'new@example.com', password, username: 'a\r\nb', next: '/' };
    assert.match(
      (await client.send('/sign-up', twoLines)).html,
      /must be one line without control characters/,
    );
    const short = { email: 'new@example.com', password: 'short', username: attack, next: '/reports' };
    const refused = await client.send('/sign-up', short);
    assert.equal(refused.status, 422);
    assert.ok(refused.html.includes(`value="${escaped}"`));
    assert.match(refused.html, /Password must be at least 8/);
    const done = await client.send('/sign-up', { ...short, password, username: 'Nia' });
    assert.deepEqual([done.status, done.location], [303, '/reports']);
    assert.match((await client.open('/reports')).html, /<b>Nia<\/b>/);

    const token = linkTokenOf(await nextMail(app, 'new@example.com'));
    assert.match((await client.open('/settings')).html, /is not verified yet/);
    const page = await client.open(`/verify-email?token=${encodeURIComponent(token)}`);
    assert.match(page.html, /Confirm that this address is yours/);
    assert.equal((await client.send('/verify-email', { token })).status, 303);
    assert.doesNotMatch((await client.open('/settings')).html, /is not verified yet/);
    assert.equal((await client.send('/verify-email', { token })).status, 422);

    await client.send('/sign-out', {});
    assert.equal((await client.open('/budgets')).status, 401);
  });

  test('a wrong password, a form of another site and one without its token are refused', async () => {
    const { email } = await app.person();
    const client = new PageClient(app.url);
    await client.open('/sign-in');
    const wrong = await client.send('/sign-in', { email, password: 'another password' });
    assert.equal(wrong.status, 401);
    assert.match(wrong.html, /address or the password is wrong/);
    assert.ok(wrong.html.includes(`value="${email}"`));
    const headers = { origin: 'https://evil.example', 'content-type': 'application/x-www-form-urlencoded' };
    const body = `email=${email}`;
    assert.equal((await app.send('/sign-in', { method: 'POST', headers, body })).status, 403);
    const open = await client.send('/sign-in', { email, password, next: 'https://evil.example/' });
    assert.equal(open.location, '/budgets');
    assert.equal((await client.send('/budgets', { _csrf: 'x', name: 'Mine', limit: '1' })).status, 403);
  });

  test('a forgotten password is set again by the mail, which ends the session of the browser', async () => {
    const person = await app.person('forgetful');
    const browser = await signedInClient(app, person);
    const client = new PageClient(app.url);
    await client.open('/reset-password');
    const asked = await client.send('/reset-password', { email: person.email });
    assert.equal(asked.location, '/sign-in');
    const token = linkTokenOf(await nextMail(app, person.email, 2));
    await client.open(`/reset-password?token=${encodeURIComponent(token)}`);
    const newPassword = 'lanterns over water';
    assert.equal((await client.send('/reset-password', { token, newPassword: 'short' })).status, 422);
    assert.equal((await client.send('/reset-password', { token, newPassword })).location, '/sign-in');
    assert.equal((await browser.open('/budgets')).status, 401);
    assert.equal((await client.send('/sign-in', { email: person.email, password: newPassword })).status, 303);
  });

  test('settings change name and password, export the data, and erase the account', async () => {
    const person = await app.person('settings');
    const client = await signedInClient(app, person);
    await client.send('/settings/profile', { username: attack });
    assert.ok((await client.open('/settings')).html.includes(`<b>${escaped}</b>`));
    const wrong = await client.send('/settings/password', {
      newPassword: 'lanterns over water',
      password: 'no',
    });
    assert.equal(wrong.status, 401);
    assert.match((await client.open('/expenses/export?format=qif')).html, /^!Type/);
    assert.equal((await client.send('/settings/erase', { password: 'wrong password' })).status, 401);
    assert.equal((await client.send('/settings/erase', { password })).location, '/sign-in');
    assert.equal((await person.get('/api/users/profile')).status, 401);
  });
});

describe('budgets and expenses', () => {
  test('a budget is planned, spent from by quick entry, edited and deleted', async () => {
    const person = await app.person();
    const client = await signedInClient(app, person);
    assert.match((await client.open('/budgets')).html, /No budgets yet/);
    const wrong = await client.send('/budgets', {
      name: attack,
      limit: '1,000',
      currency: 'USD',
      thresholds: '80, x',
    });
    assert.equal(wrong.status, 422);
    assert.ok(wrong.html.includes(`value="${escaped}"`));
    assert.match(wrong.html, /href="#field-limit"|href="#field-thresholds"|Notify me at/);
    const values = {
      name: 'Groceries',
      limit: '400',
      currency: 'USD',
      period: 'monthly',
      rollover: 'positive',
    };
    const { location } = await client.send('/budgets', { ...values, thresholds: '80, 100' });
    assert.match(location, /^\/budgets\/[0-9a-f-]{36}$/);
    const id = location.slice('/budgets/'.length);

    const once = { once: '0123456789', back: '/budgets', budgetId: id };
    const coffee = { ...once, description: attack, amount: '4.20', category: 'Food', spentOn: '2026-03-15' };
    assert.match((await client.send('/expenses', coffee)).location, /^\/budgets#expense-[0-9a-f-]{36}$/);
    // Sent twice, by a double click.
    assert.match((await client.send('/expenses', coffee)).location, /^\/budgets#expense-[0-9a-f-]{36}$/);
    const overview = (await client.open('/budgets')).html;
    assert.ok(overview.includes(escaped));
    assert.doesNotMatch(overview, /<script>alert/);
    assert.match(overview, /\$395\.80/);
    assert.equal((await person.get('/api/expenses')).json.length, 1);
    const refused = await client.send('/expenses', { ...coffee, once: 'another-one', amount: '4.2055' });
    assert.equal(refused.status, 422);
    assert.match(refused.html, /at most 2 digits/);

    const stale = { ...values, name: 'Food', version: '1' };
    assert.equal((await client.send(`/budgets/${id}/edit`, stale)).status, 303);
    const conflict = await client.send(`/budgets/${id}/edit`, { ...stale, name: 'Older' });
    assert.equal(conflict.status, 412);
    assert.match(conflict.html, /changed elsewhere/);
    assert.match((await client.open(`/budgets/${id}?period=2026-02`)).html, /February 2026/);
    const kept = await client.send(`/budgets/${id}/delete`, {});
    assert.equal(kept.status, 409);
    assert.equal((await client.send(`/budgets/${id}/delete`, { cascade: 'true' })).location, '/budgets');
  });

  test('forms for what belongs to a budget lead to a first budget', async () => {
    const client = await signedInClient(app, await app.person());
    for (const path of ['/recurring/new']) {
      const { status, html } = await client.open(path);
      assert.equal(status, 200);
      assert.match(html, /Create a budget first[\s\S]*href="\/budgets\/new"/, path);
      assert.doesNotMatch(html, /name="budgetId"/);
    }
  });

  test('many expenses are selected, given a budget and a category, deleted, and as before', async () => {
    const person = await app.person();
    const { id: budget } = await person.create('/api/budgets', { name: 'Groceries', limit: 100 });
    const made: string[] = [];
    for (const description of ['REWE 1', 'REWE 2', 'Rent'])
      made.push((await person.create('/api/expenses', { description, amount: 5 })).id);
    const client = await signedInClient(app, person);
    const unassigned = await client.open('/expenses?budget=none');
    assert.match(unassigned.html, /<h1>Unassigned<\/h1>/);
    assert.match(unassigned.html, /<a href="\/expenses\?budget=none" aria-current="page">/);
    assert.equal(unassigned.html.match(/<td class="select">/g)?.length, 3);
    const change = {
      'filter-budget': 'none',
      'to-budget': budget,
      'to-category': 'Food',
      'add-tags': 'a, b',
    };
    const nothing = await client.send('/expenses/bulk', { ...change, do: 'change' });
    assert.match((await client.open(nothing.location ?? '')).html, /Select at least one expense/);
    const done = await client.send('/expenses/bulk', {
      ...change,
      'filter-q': 'rewe',
      all: 'true',
      do: 'change',
    });
    const listed = await client.open(done.location ?? '');
    assert.match(listed.html, /2 expenses were changed/);
    const spent = async () => (await person.get(`/api/budgets/${budget}`)).json.spent;
    assert.equal(await spent(), 10);
    // It can be undone from the list until the next change, however often the list is opened.
    const again = await client.open('/expenses');
    assert.match(again.html, /Last change: 2 expenses → [^<]+</);
    const undo = /name="undo" value="([^"]+)"/.exec(again.html)?.[1] ?? '';
    const back = await client.send('/expenses/bulk/undo', { undo, back: '/expenses' });
    assert.match((await client.open(back.location ?? '')).html, /2 expenses are as before/);
    assert.equal(await spent(), 0);
    assert.doesNotMatch((await client.open('/expenses')).html, /Last change/);
    const deletion = { id: made[2] ?? '', do: 'delete' };
    const asked = await client.send('/expenses/bulk', deletion);
    assert.match(
      asked.html,
      /Delete 1 expense\?[\s\S]*name="id" value="[\s\S]*name="confirmed" value="true"/,
    );
    assert.equal((await person.get('/api/expenses')).json.length, 3);
    const removed = await client.send('/expenses/bulk', { ...deletion, confirmed: 'true' });
    assert.match((await client.open(removed.location ?? '')).html, /1 expense was deleted/);
    assert.equal((await person.get('/api/expenses')).json.length, 2);
  });

  test('expenses are found by words, edited with their tags, and deleted', async () => {
    const person = await app.person();
    const budget = await person.create('/api/budgets', { name: 'All', limit: 1_000 });
    const expense = {
      budgetId: budget.id,
      description: 'Crème brûlée',
      amount: 8,
      tags: ['a,b'],
      spentOn: '2026-03-01',
    };
    const { id } = await person.create('/api/expenses', expense);
    await person.create('/api/expenses', { ...expense, description: 'Noodles', category: 'Dinner' });
    const client = await signedInClient(app, person);
    const found = (await client.open('/expenses?q=creme')).html;
    assert.match(found, /<mark>Crème<\/mark> brûlée/);
    assert.doesNotMatch(found, /Noodles/);
    assert.match((await client.open('/expenses?category=Dinner')).html, /1 expense found/);
    assert.match((await client.open(`/expenses/${id}/edit`)).html, /value="a,b"/);
    const edited = {
      description: 'Flan',
      amount: '9',
      budgetId: budget.id,
      spentOn: '2026-03-02',
      tags: 'a,b',
      version: '1',
    };
    assert.equal((await client.send(`/expenses/${id}/edit`, edited)).status, 303);
    const { json } = await person.get(`/api/expenses/item/${id}`);
    assert.deepEqual([json.description, json.amount, json.tags], ['Flan', 9, ['a,b']]);
    const foreign = { ...edited, version: '2', amount: '10', currency: 'EUR', rate: '1.1' };
    await client.send(`/expenses/${id}/edit`, foreign);
    assert.equal((await person.get(`/api/expenses/item/${id}`)).json.amount, 11);
    await client.send(`/expenses/${id}/edit`, { ...edited, version: '3' });
    assert.equal((await person.get(`/api/expenses/item/${id}`)).json.originalCurrency, null);
    await client.send(`/expenses/${id}/delete`, {});
    assert.equal((await person.get(`/api/expenses/item/${id}`)).status, 404);
    assert.match((await client.open('/transactions')).html, /reversal/);
  });

  test('objects of another user are not found', async () => {
    const alice = await app.person();
    const budget = await alice.create('/api/budgets', { name: 'Secret', limit: 1 });
    const expense = await alice.create('/api/expenses', {
      budgetId: budget.id,
      description: 'Secret',
      amount: 1,
    });
    const customer = await alice.create('/api/customers', { name: 'Secret' });
    const client = await signedInClient(app, await app.person('bob'));
    for (const path of [
      `/budgets/${budget.id}`,
      `/budgets/${budget.id}/edit`,
      `/expenses/${expense.id}/edit`,
      `/customers/${customer.id}/edit`,
      `/expenses?budget=${budget.id}`,
    ]) {
      const { status, html } = await client.open(path);
      assert.equal(status, 404, path);
      assert.doesNotMatch(html, /Secret/);
    }
    assert.equal((await client.send(`/budgets/${budget.id}/delete`, {})).status, 404);
    assert.equal((await client.send(`/expenses/${expense.id}/delete`, {})).status, 404);
    assert.equal((await alice.get(`/api/expenses/item/${expense.id}`)).status, 200);
  });
});

describe('the other pages', () => {
  test('a bank file is uploaded, mapped, previewed and imported once', async () => {
    const person = await app.person();
    const budget = await person.create('/api/budgets', { name: 'Account', limit: 100, currency: 'EUR' });
    const client = await signedInClient(app, person);
    const text =
      'Booking date;Payee;Amount;Reference\n31.01.2026;Market;-12,50;a1\n1.2.2026;Noodles;-8,20;a2\nx;bad;-1;a3\n2.2.2026;Salary;2000;a4\n';
    const file = { name: 'bank.csv', content: text };
    await client.open('/import');
    const none = await client.upload(
      '/import',
      { name: 'a.pdf', content: '%PDF-1.7 x' },
      { budget: budget.id },
    );
    assert.equal(none.status, 422);
    const sent = await client.upload('/import', file, { budget: budget.id });
    assert.equal(sent.status, 303);
    const { html } = await client.open(sent.location);
    assert.match(html, /Import 3 rows/);
    assert.match(html, /<option value="Booking date" selected>/);
    assert.match(html, /<option value="dmy" selected>/);
    assert.match(html, /<option value="negative" selected>/);
    assert.equal((await person.get('/api/expenses')).json.length, 0);

    const path = sent.location.replace(/\?.*/, '');
    const chosen = {
      format: 'csv',
      budget: budget.id,
      name: 'bank.csv',
      sign: 'positive',
      dateFormat: 'dmy',
      'map-spentOn': 'Booking date',
      'map-description': 'Payee',
      'map-amount': 'Amount',
    };
    const preview = await client.send(path, { ...chosen, do: 'preview' });
    assert.match((await client.open(preview.location)).html, /Import 3 rows</);
    const reading = { ...chosen, sign: 'negative', 'map-externalId': 'Reference' };
    const imported = await client.send(path, { ...reading, do: 'import' });
    assert.match(imported.location, /^\/tasks\//);
    const task = await finished(person, { id: imported.location.slice('/tasks/'.length) });
    assert.equal(task.result.created, 2);
    const shown = (await client.open(imported.location)).html;
    assert.match(shown, /1 line could not be read/);
    const again = await client.upload('/import', file, { budget: budget.id });
    assert.match((await client.open(again.location)).html, /Import 1 row</);
    const cancel = await client.send(again.location.replace(/\?.*/, ''), { do: 'cancel' });
    assert.equal(cancel.location, '/import');
    assert.equal((await client.open(again.location)).status, 404);
  });

  test('the preview of an import says which days could be others', async () => {
    const person = await app.person();
    const budget = await person.create('/api/budgets', { name: 'Account', limit: 100, currency: 'EUR' });
    const client = await signedInClient(app, person);
    await client.open('/import');
    const file = { name: 'bank.csv', content: 'Date,Payee,Amount\n01/09/2026,Tea,-4.20\n' };
    const { location } = await client.upload('/import', file, { budget: budget.id });
    const { html } = await client.open(location);
    assert.match(html, /September 1, 2026 or January 9, 2026\? 01\/09\/2026 is read as September 1, 2026\./);
    assert.match(html, /<option value="mdy">January 9, 2026</);
  });

  test('the preview of an import remembers columns and finds typed expenses, and the import is undone', async () => {
    const person = await app.person();
    const budget = await person.create('/api/budgets', { name: 'Account', limit: 100, currency: 'EUR' });
    const typed = { budgetId: budget.id, description: 'Lunch with Ann', amount: 4.2, spentOn: '2026-01-10' };
    await person.create('/api/expenses', typed);
    const client = await signedInClient(app, person);
    await client.open('/import');
    const preview = async (day: string) => {
      const content = `Date,Payee,Purpose,Amount\n${day},Tea,Food,-4.20\n${day},Cake,Food,-3.00\n`;
      const { location } = await client.upload('/import', { name: 'a.csv', content }, { budget: budget.id });
      return { location, html: (await client.open(location)).html };
    };
    const first = await preview('01/09/2026');
    const fields = { budget: budget.id, format: 'csv', name: 'a.csv' };
    const reading = { 'map-spentOn': 'Date', 'map-description': 'Purpose', 'map-amount': 'Amount' };
    const chosen = { ...reading, sign: 'negative', dateFormat: 'mdy', match: 'auto' };
    const path = first.location.replace(/\?.*/, '');
    const followed = await client.open(`${path}?${new URLSearchParams({ ...fields, ...chosen })}`);
    assert.match(followed.html, /typed before<\/span><div>Lunch with Ann/);
    const { location } = await client.send(path, { ...fields, ...chosen, do: 'import' });
    const task = await finished(person, { id: location.slice('/tasks/'.length) });
    assert.deepEqual([task.result.created, task.result.matched], [1, 1]);
    const next = await preview('02/09/2026');
    assert.match(next.html, /as in the last file/);
    assert.match(next.html, /February 9|Feb 9/);
    assert.match(next.html, /<option value="Purpose" selected>/);
    const undone = await client.send(`/tasks/${task.id}/undo`, {});
    const shown = (await client.open(undone.location)).html;
    assert.match(shown, /1 expense removed\./);
    assert.match(shown, /Typed before<\/dt>\s*<dd>1<|Typed before[^0-9]*1</);
    assert.match(shown, /This import was undone/);
    assert.equal((await person.get('/api/expenses')).json.length, 1);
  });

  test('an order goes its steps, and the ledger gets the money once', async () => {
    const person = await app.person();
    const client = await signedInClient(app, person);
    assert.match((await client.open('/orders/new')).html, /Add a customer first/);
    await client.send('/customers', { name: attack, email: 'no address' });
    await client.send('/customers', { name: attack, email: 'ada@example.com' });
    const [customer] = (await person.get('/api/customers')).json;
    const items = {
      description: ['Chair', '', 'Table'],
      quantity: ['4', '', ''],
      unitAmount: ['49.50', '', '250'],
    };
    const wrong = { customerId: customer.id, ...items, unitAmount: ['x', '', '250'] };
    const refused = await client.send('/orders', wrong);
    assert.equal(refused.status, 422);
    assert.match(refused.html, /aria-label="Price of item 1" aria-invalid="true"/);
    const { location } = await client.send('/orders', { customerId: customer.id, ...items });
    assert.match((await client.open(location)).html, /\$448\.00/);
    assert.equal((await client.send(`${location}/step`, { status: 'completed' })).location, location);
    const twice = await client.send(`${location}/step`, { status: 'completed' });
    assert.equal(twice.status, 409);
    assert.equal((await person.get('/api/transactions')).json.length, 1);
    assert.equal((await client.send(`${location}/delete`, {})).status, 409);
  });

  test('recurring expenses are added by themselves, and can be changed', async () => {
    const person = await app.person();
    const budget = await person.create('/api/budgets', { name: 'Home', limit: 2_000 });
    const client = await signedInClient(app, person);
    const rent = { budgetId: budget.id, description: 'Rent', amount: '1100', freq: 'monthly', interval: '1' };
    const wrong = await client.send('/recurring', {
      ...rent,
      byMonthDay: '32',
      start: '2026-01-31',
      timezone: 'UTC',
    });
    assert.equal(wrong.status, 422);
    const given = { ...rent, byMonthDay: '31', start: '2026-01-31', timezone: 'UTC', onWeekend: 'after' };
    assert.equal((await client.send('/recurring', given)).location, '/recurring');
    assert.match(
      (await client.open('/recurring')).html,
      /every month on day 31, on the Monday after a weekend/,
    );
    const [recurring] = (await person.get('/api/recurring')).json;
    assert.equal((await person.get('/api/expenses')).json.length, 2);
    const weekly = { ...given, freq: 'weekly', byDay: ['MO', 'FR'], start: '2026-03-20', version: '1' };
    await client.send(`/recurring/${recurring.id}/edit`, weekly);
    assert.match((await client.open('/recurring')).html, /every week on Monday, Friday/);
    await client.send(`/recurring/${recurring.id}/delete`, {});
    assert.equal((await person.get('/api/recurring')).json.length, 0);
  });

  test('reports, tasks and notifications show what there is', async () => {
    const person = await app.person();
    const budget = await person.create('/api/budgets', { name: 'Home', limit: 10 });
    const client = await signedInClient(app, person);
    await person.create('/api/expenses', {
      budgetId: budget.id,
      description: 'Lamp',
      amount: 12,
      category: attack,
    });
    const reports = (await client.open('/reports')).html;
    assert.match(reports, /Spending by month in USD/);
    assert.ok(reports.includes(escaped));
    const notifications = (await client.open('/notifications')).html;
    assert.match(notifications, /120% of Home/);
    assert.match(notifications, /data-unread="2"/);
    await client.send('/notifications/read', { upTo: '99' });
    assert.match((await client.open('/notifications?show=unread')).html, /No unread notifications/);
    const { location } = await client.send('/tasks', { type: 'export' });
    await finished(person, { id: location.slice('/tasks/'.length) });
    assert.match((await client.open(`${location}/file`)).html, /Lamp/);
    assert.match((await client.open('/tasks')).html, /Export of all expenses/);
  });
});

describe('the admin', () => {
  test('is for staff, who see accounts and disable them', async () => {
    const person = await app.person('disabled');
    const browser = await signedInClient(app, person);
    assert.notEqual((await browser.open('/admin/budgets/account/')).status, 200);
    const staff = new PageClient(app.url);
    const setup = new URL(app.setupLink);
    await staff.open(`${setup.pathname}${setup.search}`);
    const token = setup.searchParams.get('token') ?? '';
    assert.equal((await staff.send(setup.pathname, { token, username: 'root', password })).status, 303);
    const budget = await person.create('/api/budgets', { name: attack, limit: 5 });
    await person.create('/api/expenses', { budgetId: budget.id, description: attack, amount: 1 });
    const accounts = (await staff.open('/admin/budgets/account/?q=disabled')).html;
    assert.ok(accounts.includes(person.email));
    for (const model of ['budget', 'expense', 'order', 'task']) {
      const { status, html } = await staff.open(`/admin/budgets/${model}/`);
      assert.equal(status, 200, model);
      assert.doesNotMatch(html, /<script>alert/);
    }
    const headers = { authorization: `Bearer ${person.token}` };
    const socket = new SocketClient(`${app.url}/ws`, { headers });
    assert.equal((await socket.next()).type, 'ready');
    const [, number = ''] = /\/admin\/budgets\/account\/(\d+)\//.exec(accounts) ?? [];
    const change = { username: '', email_verified: 'true', disabled: 'true' };
    await staff.open(`/admin/budgets/account/${number}/change/`);
    assert.equal((await staff.send(`/admin/budgets/account/${number}/change/`, change)).status, 303);
    assert.equal((await person.get('/api/budgets')).status, 403);
    assert.equal((await browser.open('/budgets')).status, 401);
    const refused = await app.send('/api/auth/login', { body: { email: person.email, password } });
    assert.equal(refused.status, 403);
    assert.equal(await socket.closed, 4403);
    assert.equal(await new SocketClient(`${app.url}/ws`, { headers }).closed, 4403);
    await staff.open(`/admin/budgets/account/${number}/change/`);
    const enabled = { username: '', email_verified: 'true' };
    assert.equal((await staff.send(`/admin/budgets/account/${number}/change/`, enabled)).status, 303);
    assert.equal((await person.get('/api/budgets')).status, 401);
    assert.equal((await (await app.signIn(person)).get('/api/budgets')).status, 200);
  });
});

test('error pages keep the navigation of a signed-in user', async () => {
  const client = await signedInClient(app, await app.person());
  const missing = await client.open('/budgets/nothing');
  assert.equal(missing.status, 404);
  assert.match(missing.html, /<nav[\s\S]*href="\/expenses"/);
  const stranger = await app.send('/nothing', { headers: { accept: 'text/html' } });
  assert.equal(stranger.status, 404);
  assert.doesNotMatch(stranger.text, /href="\/expenses"/);
});
