import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startQuotes, type TestQuotes } from '../testing.ts';

let app: TestQuotes;
before(async () => {
  app = await startQuotes();
});
after(() => app[Symbol.asyncDispose]());

test('readers report a quote; a further report replaces an open one', async () => {
  const id = await app.add();
  const path = `/api/quotes/${id}/report/`;
  const { bob, charlie } = app.tokens;
  const first = await app.call('POST', path, { token: bob, body: { reason: 'typo', note: ' A comma. ' } });
  assert.deepEqual(
    [first.status, first.json],
    [201, { id: first.json.id, quote: id, reason: 'typo', note: 'A comma.' }],
  );
  const again = await app.call('POST', path, { token: bob, body: { reason: 'offensive' } });
  assert.deepEqual([again.status, again.json.id, again.json.note], [201, first.json.id, '']);
  await app.call('POST', path, { token: charlie, body: { reason: 'other', note: '' } });
  assert.equal(await app.metric('quotes_open_reports'), 2);
});

test('strangers do not report; the reason is one of five', async () => {
  const id = await app.add();
  const path = `/api/quotes/${id}/report/`;
  assert.equal((await app.call('POST', path, { body: { reason: 'typo' } })).status, 401);
  const { bob: token } = app.tokens;
  assert.deepEqual((await app.call('POST', path, { token, body: {} })).json, {
    reason: ['This field is required.'],
  });
  const { status, json } = await app.call('POST', path, {
    token,
    body: { reason: 'boring', note: 'x'.repeat(1_001) },
  });
  assert.deepEqual(
    [status, json],
    [
      400,
      {
        reason: ['"boring" is not a valid choice.'],
        note: ['Ensure this field has no more than 1000 characters.'],
      },
    ],
  );
  const missing = await app.call('POST', '/api/quotes/99999/report/', { token, body: { reason: 'typo' } });
  assert.equal(missing.status, 404);
});

test('staff open the quote of a report on the site, also after it was withdrawn', async () => {
  const id = await app.add();
  const { bob: token } = app.tokens;
  const { json } = await app.call('POST', `/api/quotes/${id}/report/`, { token, body: { reason: 'typo' } });
  const staff = await app.browser('dora');
  const { html } = await staff.open(`/admin/quotes/report/${json.id}/change/`);
  const [, address = ''] = /href="([^"]*)">View on site</.exec(html) ?? [];
  assert.equal(address, `/quotes/${id}/`);
  const list = '/admin/quotes/report/';
  await staff.open(list);
  const withdraw = { action: 'withdraw', _selected_action: String(json.id), post: 'yes' };
  assert.equal((await staff.send(list, withdraw)).status, 303);
  const shown = await staff.open(address);
  assert.deepEqual([shown.status, /href="\/admin\/"/.test(shown.html)], [200, true]);
  const home = await (await app.browser('bob')).open('/');
  assert.doesNotMatch(home.html, /href="\/admin\/"/, 'readers have no links of staff');
  assert.equal((await app.call('GET', `/api/quotes/${id}/`)).status, 404);
});
