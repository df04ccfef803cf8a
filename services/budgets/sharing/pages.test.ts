import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startBudgets } from '../testing.ts';
import { signedInClient } from '../testing-pages.ts';
import { share, verifiedPerson } from '../testing-sharing.ts';

const app = await startBudgets();
after(() => app[Symbol.asyncDispose]());

const nameOf = ({ email }: { email: string }) => email.replace(/@.*/, '');

test('a budget is shared, accepted, changed and left on pages', async () => {
  const [alice, bob] = [await verifiedPerson(app, 'alice'), await verifiedPerson(app, 'bob')];
  const { id } = await alice.create('/api/budgets', { name: 'Home', limit: 80 });
  const owner = await signedInClient(app, alice);
  const partner = await signedInClient(app, bob);
  const wrong = await owner.send(`/budgets/${id}/members`, { email: 'x', role: 'editor' });
  assert.equal(wrong.status, 422);
  assert.equal(wrong.html.match(/must be an e-mail address/g)?.length, 1);
  const invited = await owner.send(`/budgets/${id}/members`, { email: bob.email, role: 'editor' });
  assert.equal(invited.headers.get('location'), `/budgets/${id}/members`);
  assert.match((await owner.open(`/budgets/${id}/members`)).html, /Invited, until/);
  assert.match((await owner.open(`/budgets/${id}`)).html, /\/members">1 invited</);
  const start = await partner.open('/budgets');
  assert.match(start.html, new RegExp(`<b>${nameOf(alice)}</b> shares “Home” with you`));
  const [, accept = ''] = /action="(\/invitations\/[^"]+\/accept)"/.exec(start.html) ?? [];
  assert.equal((await partner.send(accept, {})).headers.get('location'), `/budgets/${id}`);
  const { html: withHome } = await partner.open('/budgets');
  assert.match(withHome, new RegExp(`<small class="muted">to Home of ${nameOf(alice)}</small>`));
  for (const path of ['/budgets', '/expenses']) {
    const { html: list } = await partner.open(path);
    assert.match(list, new RegExp(`on their pages: <a href="/budgets/${id}">Home of ${nameOf(alice)}</a>`));
    assert.doesNotMatch(list, /Enter (one|what you spend) above/);
  }
  const added = await partner.send('/expenses', { budgetId: id, description: 'Lamp', amount: '12' });
  assert.equal(added.status, 303, added.html);
  const { html: own } = await owner.open(`/budgets/${id}`);
  assert.match(own, /\/members">Shared with 1</);
  const byBob = new RegExp(`Lamp</a><div>Added by ${nameOf(bob)}</div>`);
  assert.match(own, byBob);
  assert.match((await partner.open('/budgets')).html, new RegExp(`shared by ${nameOf(alice)}`));
  const { html: shared } = await partner.open(`/budgets/${id}`);
  assert.match(shared, /<div>Added by you<\/div>/);
  assert.match(shared, new RegExp(`Shared by ${nameOf(alice)}: you can see it, and add`));
  assert.doesNotMatch(shared, /Shared with|href="[^"]*\/(edit|delete)"[^>]*>(Edit|Delete)</);
  const [, role = ''] =
    /action="(\/budgets\/[^"]+\/role)"/.exec((await owner.open(`/budgets/${id}/members`)).html) ?? [];
  assert.equal((await owner.send(role, { role: 'viewer' })).status, 303);
  const { html: reading } = await partner.open(`/budgets/${id}`);
  assert.match(reading, /you can see it\./);
  assert.doesNotMatch(reading, /Quick entry|\/expenses\/[^"]+\/(edit|delete)"/);
  const list = await partner.open(`/expenses?budget=${id}`);
  assert.match(list.html, /Lamp/);
  assert.doesNotMatch(list.html, /data-selection-bar/);
  const [, leave = ''] = /href="(\/budgets\/[^"]+\/remove)" data-dialog/.exec(reading) ?? [];
  assert.match((await partner.open(leave)).html, /Leave “Home”\?/);
  assert.equal((await partner.send(leave, {})).headers.get('location'), '/budgets');
  assert.equal((await partner.open(`/budgets/${id}`)).status, 404);
  for (const path of ['/budgets', `/budgets/${id}`, '/expenses'])
    assert.match((await owner.open(path)).html, byBob, `${path} after the member has left`);
  const [, expense = ''] = /href="(\/expenses\/[^"]+\/edit)">Lamp/.exec(own) ?? [];
  assert.match((await owner.open(expense)).html, new RegExp(`<p>Added by ${nameOf(bob)}</p>`));
});

test('pages of others than the owner and editors are refused', async () => {
  const names = ['alice', 'bob', 'vera', 'charlie'] as const;
  const [alice, bob, vera, charlie] = await Promise.all(names.map((name) => verifiedPerson(app, name)));
  assert.ok(alice && bob && vera && charlie);
  const { id } = await alice.create('/api/budgets', { name: 'Home', limit: 80 });
  const tea = await alice.create('/api/expenses', { budgetId: id, description: 'Tea', amount: 1 });
  const member = await share(alice, id, { person: bob, role: 'editor' });
  await share(alice, id, { person: vera, role: 'viewer' });
  const table: [path: string, expected: readonly [number, number, number, number]][] = [
    [`/budgets/${id}`, [200, 200, 200, 404]],
    [`/budgets/${id}/edit`, [200, 403, 403, 404]],
    [`/budgets/${id}/delete`, [200, 403, 403, 404]],
    [`/budgets/${id}/members`, [200, 403, 403, 404]],
    [`/budgets/${id}/members/${member}/remove`, [200, 200, 404, 404]],
    [`/expenses?budget=${id}`, [200, 200, 200, 404]],
    [`/expenses/${tea.id}/edit`, [200, 200, 403, 404]],
    [`/expenses/${tea.id}/delete`, [200, 200, 403, 404]],
  ];
  for (const [index, person] of [alice, bob, vera, charlie].entries()) {
    const browser = await signedInClient(app, person);
    for (const [path, expected] of table)
      assert.equal((await browser.open(path)).status, expected[index], `${person.email} ${path}`);
  }
});

test('an account whose address is not verified is asked to verify it, whether or not an invitation waits', async () => {
  const [alice, bob, charlie] = [
    await verifiedPerson(app, 'alice'),
    await app.person('bob'),
    await app.person('charlie'),
  ];
  const { id } = await alice.create('/api/budgets', { name: 'Home', limit: 80 });
  await alice.create(`/api/budgets/${id}/members`, { email: bob.email, role: 'viewer' });
  const words = /Verify your address to see invitations/;
  for (const person of [bob, charlie]) {
    const browser = await signedInClient(app, person);
    const { html: start } = await browser.open('/budgets');
    assert.match(start, words);
    assert.doesNotMatch(start, /shares “Home”/);
    const { html: notifications } = await browser.open('/notifications');
    assert.match(notifications, words);
    const sent = await browser.send('/settings/verify', { back: '/notifications' });
    assert.equal(sent.headers.get('location'), '/notifications');
    const elsewhere = await browser.send('/settings/verify', { back: '//elsewhere.example' });
    assert.equal(elsewhere.headers.get('location'), '/settings');
  }
  const verified = await signedInClient(app, alice);
  for (const path of ['/budgets', '/notifications'])
    assert.doesNotMatch((await verified.open(path)).html, words);
});

test('sorting by payee says that it offers own budgets, and leaves “Unassigned” as it is', async () => {
  const [alice, bob] = [await verifiedPerson(app, 'alice'), await verifiedPerson(app, 'bob')];
  await bob.create('/api/expenses', { description: 'Kiosk', amount: 1 });
  const browser = await signedInClient(app, bob);
  const words = /Only your own budgets are offered/;
  assert.doesNotMatch((await browser.open('/rules/sort')).html, words);
  const { id } = await alice.create('/api/budgets', { name: 'Home', limit: 80 });
  await share(alice, id, { person: bob, role: 'editor' });
  const { html } = await browser.open('/rules/sort');
  assert.match(html, words);
  assert.doesNotMatch(html, /<option value="Home">/);
  const row = { 'payee-0': 'Kiosk', 'currency-0': 'USD' };
  const left = await browser.send('/rules/sort', { ...row, 'budget-0': ' unassigned ' });
  assert.equal(left.status, 422);
  assert.match(left.html, /Type a budget beside at least one payee/);
});
