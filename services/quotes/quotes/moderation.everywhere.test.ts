import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startQuotes, type TestQuotes } from '../testing.ts';

let app: TestQuotes;
before(async () => {
  app = await startQuotes({ environment: { QUOTES_MODERATION: '1' } });
});
after(() => app[Symbol.asyncDispose]());

const missing = { detail: 'Not found.' };

/** A quote of Alice that is published. */
async function published(quote: { text: string; category?: string }): Promise<number> {
  const id = await app.add(quote);
  assert.equal((await app.act('quote', 'publish', [id])).status, 303);
  return id;
}

/** The ids of the changes that wait, as the admin lists them. */
async function waitingChanges(): Promise<number[]> {
  const { html } = await (await app.browser('dora')).open('/admin/quotes/change/');
  return [...html.matchAll(/name="_selected_action" value="(\d+)"/g)].map(([, id]) => Number(id));
}

const read = async (id: number, token?: string) =>
  (await app.call('GET', `/api/quotes/${id}/`, { token })).json;

test('for a stranger, a quote that waits is missing by every method', async () => {
  const id = await app.add({ text: 'Nobody sees this yet.' });
  const { bob } = app.tokens;
  const body = { text: 'Mine now.', author: 'Bob', category: 'Theft', reason: 'other' };
  for (const [method, path] of [
    ['GET', ''],
    ['PUT', ''],
    ['PATCH', ''],
    ['DELETE', ''],
    ['POST', 'like/'],
    ['DELETE', 'like/'],
    ['GET', 'comments/'],
    ['POST', 'comments/'],
    ['DELETE', 'comments/1/'],
    ['POST', 'report/'],
  ] as const) {
    const options = { token: bob, ...(method !== 'GET' && { body }) };
    const { status, json } = await app.call(method, `/api/quotes/${id}/${path}`, options);
    assert.deepEqual([status, json], [404, missing], `${method} ${path}`);
  }
  const browser = await app.browser('bob');
  await browser.open('/');
  for (const path of ['', 'edit/', 'delete/', 'report/', 'card.png'])
    assert.equal((await browser.open(`/quotes/${id}/${path}`)).status, 404, path);
  for (const path of ['edit/', 'delete/', 'like/', 'comments/', 'comments/1/delete/', 'report/'])
    assert.equal((await browser.send(`/quotes/${id}/${path}`, body)).status, 404, path);
  assert.equal((await read(id, app.tokens.alice)).text, 'Nobody sees this yet.');
});

test('its category shows nowhere before it is published', async () => {
  const id = await app.add({ category: 'Top Secret' });
  const names = async () =>
    (await app.call('GET', '/api/categories/')).json.map(({ name }: { name: string }) => name);
  const stranger = await app.browser();
  assert.ok(!(await names()).includes('Top Secret'));
  assert.equal((await stranger.open('/categories/top-secret/')).status, 404);
  const own = (await (await app.browser('alice')).open(`/quotes/${id}/`)).html;
  assert.match(own, /Top Secret<span/);
  assert.doesNotMatch(own, /categories\/top-secret/);
  await app.act('quote', 'publish', [id]);
  assert.ok((await names()).includes('Top Secret'));
  assert.equal((await stranger.open('/categories/top-secret/')).status, 200);
  await app.act('quote', 'withdraw', [id]);
  assert.ok(!(await names()).includes('Top Secret'));
});

test('its address is named to who may see it only', async () => {
  const given = { text: 'Said twice.', author: 'Echo', category: 'Life' };
  const id = await app.add(given);
  const again = async (token: string) =>
    (await app.call('POST', '/api/quotes/', { token, body: given })).json.text;
  const { alice, bob, dora } = app.tokens;
  assert.deepEqual(await again(bob), ['This quote was already submitted.']);
  const other = await app.add({ author: 'Echo' }, bob);
  const patch = await app.call('PATCH', `/api/quotes/${other}/`, {
    token: bob,
    body: { text: 'Said twice' },
  });
  assert.deepEqual([patch.status, patch.json.text], [400, ['This quote was already submitted.']]);
  for (const token of [alice, dora])
    assert.deepEqual(await again(token), [`This quote is already here: /quotes/${id}/.`]);
  await app.act('quote', 'publish', [id]);
  assert.deepEqual(await again(bob), [`This quote is already here: /quotes/${id}/.`]);
});

test('a change of a published quote waits until staff approves it', async () => {
  const id = await published({ text: 'First wording, with otters.', category: 'Animals' });
  const path = `/api/quotes/${id}/`;
  const { alice, bob } = app.tokens;
  const before = await read(id);
  const changed = await app.call('PATCH', path, {
    token: alice,
    body: { text: 'Second wording, with badgers.', category: 'Unheard of' },
  });
  const pending = {
    text: 'Second wording, with badgers.',
    author: 'Somebody',
    category: 'Unheard of',
    source: '',
    attribution: 'unverified',
  };
  assert.deepEqual([changed.status, changed.json], [200, { ...before, pending }]);
  for (const token of [undefined, bob]) assert.deepEqual(await read(id, token), before);
  assert.deepEqual((await app.call('GET', '/api/quotes/?search=badgers', { token: alice })).json, []);
  const categories = (await app.call('GET', '/api/categories/')).text;
  assert.doesNotMatch(categories, /Unheard of/);
  const more = await app.call('PATCH', path, { token: alice, body: { source: 'A letter' } });
  assert.deepEqual(more.json.pending, { ...pending, source: 'A letter' });
  const changes = await waitingChanges();
  assert.equal(changes.length, 1);
  assert.equal((await app.act('change', 'approve', changes)).status, 303);
  assert.deepEqual(await read(id, alice), { ...before, ...pending, source: 'A letter' });
  assert.equal((await app.call('GET', '/api/quotes/?search=badgers')).json.length, 1);
  assert.deepEqual(await waitingChanges(), []);
  const history = (await (await app.browser('dora')).open(`/admin/quotes/quote/${id}/history/`)).html;
  assert.match(history, /Approve the change of alice[\s\S]*First wording[\s\S]*Second wording/);
});

test('a change is rejected, taken back by its author, or replaced by staff', async () => {
  const id = await published({ text: 'As it is.' });
  const path = `/api/quotes/${id}/`;
  const { alice, dora } = app.tokens;
  const propose = (text: string) => app.call('PATCH', path, { token: alice, body: { text } });
  assert.equal((await propose('As it was.')).json.pending.text, 'As it was.');
  assert.equal((await app.act('change', 'reject', await waitingChanges())).status, 303);
  assert.equal((await read(id, alice)).pending, undefined);
  await propose('As it was.');
  assert.equal((await propose('As it is.')).json.pending, undefined);
  assert.deepEqual(await waitingChanges(), []);
  await propose('As it will be.');
  // Staff publishes at once. What the author leaves as it is, the approval leaves as it is then.
  const body = { source: 'Found by Dora' };
  assert.equal((await app.call('PATCH', path, { token: dora, body })).json.source, 'Found by Dora');
  await app.act('change', 'approve', await waitingChanges());
  const { text, source } = await read(id);
  assert.deepEqual([text, source], ['As it will be.', 'Found by Dora']);
});

test('a change to a text that is there by now is not approved', async () => {
  const id = await published({ text: 'A thought.' });
  const { alice } = app.tokens;
  await app.call('PATCH', `/api/quotes/${id}/`, { token: alice, body: { text: 'A better thought.' } });
  const other = await published({ text: 'A better thought!' });
  const changes = await waitingChanges();
  const refused = await app.act('change', 'approve', changes);
  assert.equal(refused.status, 409);
  assert.match(refused.html, new RegExp(`already here: /quotes/${other}/`));
  assert.deepEqual([(await read(id)).text, await waitingChanges()], ['A thought.', changes]);
  await app.act('change', 'reject', changes);
});

test('a quote that waits is changed at once, and its author deletes what is published', async () => {
  const { alice } = app.tokens;
  const id = await app.add({ text: 'Not yet.' });
  const path = `/api/quotes/${id}/`;
  const changed = await app.call('PATCH', path, { token: alice, body: { text: 'Not yet, but soon.' } });
  assert.deepEqual([changed.json.text, changed.json.pending], ['Not yet, but soon.', undefined]);
  await app.act('quote', 'publish', [id]);
  await app.call('PATCH', path, { token: alice, body: { text: 'Now.' } });
  assert.equal((await app.call('DELETE', path, { token: alice })).status, 204);
  assert.deepEqual(await waitingChanges(), []);
});

test('the pages tell the author that a change waits', async () => {
  const id = await published({ text: 'On the page.' });
  const alice = await app.browser('alice');
  await alice.open(`/quotes/${id}/edit/`);
  const form = { text: 'Changed on the page.', author: 'Somebody', category: 'Life', source: '' };
  const sent = await alice.send(`/quotes/${id}/edit/`, { ...form, attribution: 'unverified' });
  assert.equal(sent.location, `/quotes/${id}/`);
  const page = (await alice.open(sent.location)).html;
  assert.match(page, /Your change waits for approval\. Until then, the quote stays as it is\./);
  assert.match(page, /On the page\./);
  assert.match(page, /this is what everybody sees\. <a href="[^"]+edit\/">See your change/);
  const edit = (await alice.open(`/quotes/${id}/edit/`)).html;
  assert.match(
    edit,
    /This is your change, which waits for approval\.[\s\S]*Changed on the page\.<\/textarea>/,
  );
  const bob = (await (await app.browser('bob')).open(`/quotes/${id}/`)).html;
  assert.doesNotMatch(bob, /waits for approval|Changed on the page/);
});

test('with open editing too, the change of anybody waits', async () => {
  await using open = await startQuotes({ environment: { QUOTES_MODERATION: '1', QUOTES_OPEN_EDITING: '1' } });
  const id = await open.add({ text: 'Open.' }, open.tokens.dora);
  const path = `/api/quotes/${id}/`;
  const propose = async (token: string, text: string) =>
    (await open.call('PATCH', path, { token, body: { text } })).json;
  const { alice, bob } = open.tokens;
  assert.deepEqual(
    (await Promise.all([propose(alice, 'By Alice.'), propose(bob, 'By Bob.')])).map(({ text, pending }) => [
      text,
      pending.text,
    ]),
    [
      ['Open.', 'By Alice.'],
      ['Open.', 'By Bob.'],
    ],
  );
  assert.equal((await open.call('GET', path, { token: bob })).json.pending.text, 'By Bob.');
});
