import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testBrowser } from '@octavo/testing/browser';
import { fieldsOf } from './testing/forms.ts';
import { addBooks, password, startLibrary } from './testing/start.ts';

const browser = testBrowser();
const library = await startLibrary();
const alice = await library.signedIn('alice');
const [book] = await addBooks(library.database, [{ title: 'Middlemarch' }]);
const change = `/admin/library/book/${book}/change/`;

test('without JavaScript, a link adds the object and comes back with it picked', async () => {
  for (const form of [change, '/admin/library/book/add/']) {
    const { html } = await alice.open(form);
    const href = /<a href="([^"]*)"[^>]*data-add-related/.exec(html)?.[1]?.replaceAll('&amp;', '&') ?? '';
    assert.equal(
      href,
      `/admin/library/author/add/?${new URLSearchParams({ _back: form, _field: 'author' })}`,
    );
    const adding = await alice.open(href);
    assert.doesNotMatch(adding.html, /_addanother|_continue/);
    assert.match(adding.html, new RegExp(`href="${form}">Go back`));
    const wrong = await alice.send('/admin/library/author/add/', { ...fieldsOf(adding.html), name: '' });
    assert.equal(wrong.status, 422);
    const added = await alice.send('/admin/library/author/add/', {
      ...fieldsOf(wrong.html),
      name: `George ${form}`,
    });
    const back = added.location;
    assert.match(back, /\?author=\d+$/);
    assert.equal(back.split('?')[0], form);
    const again = await alice.open(back);
    assert.match(again.html, /The author “George [^”]*” was added\./);
    const id = back.split('=')[1];
    assert.equal(fieldsOf(again.html).author, id);
    if (form !== change) continue;
    const saved = await alice.send(form, fieldsOf(again.html));
    assert.equal(saved.status, 303);
    const row = await library.database.kysely
      .selectFrom('book')
      .select('author_id')
      .executeTakeFirstOrThrow();
    assert.equal(row.author_id, Number(id));
  }
});

test('an address changes no other field of an object, and leads only to forms of this admin', async () => {
  const { html } = await alice.open(`${change}?title=Other&author=999&genre=poetry`);
  assert.deepEqual([fieldsOf(html).title, fieldsOf(html).genre], ['Middlemarch', 'novel']);
  for (const _back of [
    ...['https://evil.example/', '//evil.example/admin/a/b/add/', '/', '/admin/', '/admin/logout/'],
    ...['/admin/library/book/1/delete/', `/admin/library/book/add/?${'x'.repeat(2_000)}`, '/\\evil/add/'],
  ]) {
    const added = await alice.send('/admin/library/author/add/', {
      name: `A ${_back}`.slice(0, 90),
      _back,
      _field: 'author',
    });
    assert.equal(added.location, '/admin/library/author/', _back);
  }
  const odd = { name: 'Odd', _back: change, _field: 'a&b=c' };
  assert.equal((await alice.send('/admin/library/author/add/', odd)).location, '/admin/library/author/');
});

test('who may not add or view the other model has no link', async () => {
  for (const [name, other] of [
    ['bob', []],
    ['carol', ['library/author:view']],
    ['dave', ['library/author:add']],
  ] as const) {
    const client = await library.signedIn(name, ['library/book:view', 'library/book:change', ...other]);
    assert.doesNotMatch((await client.open(change)).html, /data-add-related/);
  }
  const viewer = await library.signedIn('eve', ['library/book:view']);
  assert.equal((await viewer.open('/admin/library/author/1/picked/')).status, 403);
  const authors = ['library/author:view', 'library/author:add'];
  const both = await library.signedIn('frank', ['library/book:view', 'library/book:change', ...authors]);
  assert.match((await both.open(change)).html, /data-add-related/);
});

test('a window adds the object, picks it and closes; what was typed stays', {
  skip: browser.skip,
}, async () => {
  const { page, complaints, barriers } = await browser.open({ baseUrl: library.url });
  await page.goto(`/admin/login/?next=${change}`);
  await page.fill('[name=username]', 'alice');
  await page.fill('[name=password]', password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByLabel('Title').fill('Silas Marner');
  const opening = page.waitForEvent('popup');
  await page.getByRole('link', { name: 'Add author' }).click();
  const adding = await opening;
  await adding.getByLabel('Name').fill('');
  await adding.getByRole('button', { name: 'Save' }).click();
  await adding.getByText('Name is required').first().waitFor();
  await adding.getByLabel('Name').fill('Mary Ann <Evans>');
  const closing = adding.waitForEvent('close');
  await adding.getByRole('button', { name: 'Save' }).click();
  await closing;
  const author = page.getByLabel('Author');
  assert.equal(await author.locator('option:checked').textContent(), 'Mary Ann <Evans>');
  assert.equal(await page.getByLabel('Title').inputValue(), 'Silas Marner');
  assert.deepEqual(await barriers(), []);
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText('The book “Silas Marner” was changed.').waitFor();
  assert.match(await page.locator('tbody').innerText(), /Mary Ann <Evans>/);
  // A message from a window that this page did not open changes nothing.
  await page.goto(change);
  await page.evaluate("window.postMessage({ picked: '1', title: 'x' }, location.origin)");
  assert.equal(await page.getByLabel('Author').locator('option:checked').textContent(), 'Mary Ann <Evans>');
  assert.deepEqual(complaints, []);
});
