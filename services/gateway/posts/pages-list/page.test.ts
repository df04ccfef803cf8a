import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { FakeClock } from '@octavo/core';
import { startTestSystem } from '@octavo/octavo/testing';
import { until } from '@octavo/testing';
import { setUpApp } from '../../account/testing.ts';
import { castOf, visitorsOf } from '../../testing.ts';
import type { Post } from '../post.ts';

const clock = new FakeClock();
const system = await startTestSystem({}, clock);
after(() => system[Symbol.asyncDispose]());

/** Creates a post at a time. Tokens last an hour, so each has one of its own. */
async function createAt(time: string, title: string): Promise<Post> {
  clock.set(Date.parse(time));
  return (await castOf(system)).bob.create({ title, body: 'x' });
}

const titlesIn = (html: string) =>
  [...html.matchAll(/<a href="\/posts\/\d+">(.+?)<\/a><div>/g)].map(([, title]) =>
    title?.replace(/<\/?mark>/g, ''),
  );
const idsIn = (html: string) =>
  [...html.matchAll(/type="hidden" name="id" value="(\d+)"/g)].map(([, id]) => Number(id));

await createAt('2026-03-01T21:30:00Z', 'Evening');
await createAt('2026-03-01T23:30:00Z', 'Midnight');
await createAt('2026-03-02T09:00:00Z', 'Morning');
const cast = await castOf(system);
const { alice, bob, charlie } = await visitorsOf(system);

describe('the list', () => {
  test('is filtered by days of the time zone that the browser sends', async () => {
    const of = async (query: string) => titlesIn((await bob.open(`/?sortOrder=asc&${query}`)).html);
    assert.deepEqual(await of('from=2026-03-02'), ['Morning']);
    assert.deepEqual(await of('from=2026-03-02&zone=Europe%2FBerlin'), ['Midnight', 'Morning']);
    assert.deepEqual(await of('to=2026-03-01'), ['Evening', 'Midnight']);
    assert.deepEqual(await of('from=2026-03-01&to=2026-03-01&zone=Europe%2FBerlin'), ['Evening']);
    assert.deepEqual(await of('from=2026-03-01&to=2026-03-01&zone=America%2FNew_York'), [
      'Evening',
      'Midnight',
    ]);
    assert.deepEqual(await of('from=2026-03-02&zone=Nowhere'), ['Morning']);
  });

  test('is filtered by the name of a user, which can be picked', async () => {
    await cast.alice.create({ title: 'Of Alice', body: 'x' });
    const { html } = await bob.open('/?userId=Editor');
    assert.deepEqual(titlesIn(html), ['Of Alice']);
    assert.match(html, /<input (?=[^>]*name="userId")[^>]*value="editor"/);
    assert.match(html, /<datalist id="users"><option value="admin"><option value="editor">/);
    assert.match(html, /href="\/posts\/export\?userId=2&amp;format=json"/);
    // An address with the number of a user keeps its meaning, and shows the name.
    assert.match((await bob.open('/?userId=2')).html, /value="editor"/);
    const unknown = await bob.open('/?userId=edito');
    assert.match(unknown.html, /User must be the name or the number of a user/);
    assert.match(unknown.html, />Morning</);
  });

  test('names the filters that it ignores', async () => {
    const cases: [string, RegExp][] = [
      ['from=2026-02-30', /Created from must be a date/],
      ['to=tomorrow', /Created until must be a date/],
      ['from=2026-03-02&to=2026-03-01', /Created until must not be before the first day/],
      ['sentiment=happy', /Sentiment must be/],
      ['pageSize=0', /pageSize must be/],
    ];
    for (const [query, words] of cases) {
      const { status, html } = await bob.open(`/?${query}`);
      assert.equal(status, 200, query);
      assert.match(html, words);
    }
  });

  test('has pages of a size that the reader chooses', async () => {
    const { html } = await bob.open('/?pageSize=2&search=ning');
    assert.deepEqual(titlesIn(html), ['Morning', 'Evening']);
    assert.match(html, /Mor<mark>ning<\/mark>[\s\S]*Eve<mark>ning<\/mark>/);
    assert.match(html, /href="\/docs">[\s\S]{0,300}API</);
    for (let count = 0; count < 21; count++) await cast.bob.create({ title: 'Filler', body: 'filler' });
    const page = await bob.open('/?search=filler');
    assert.match(
      page.html,
      /1–20 of 21[\s\S]*aria-current="true">20<[\s\S]*href="\/\?search=filler&amp;pageSize=50"/,
    );
    const larger = await bob.open('/?search=filler&pageSize=50');
    assert.equal(titlesIn(larger.html).length, 21);
    assert.match(larger.html, /type="hidden" name="pageSize" value="50"/);
  });

  test('exports exactly what it shows', async () => {
    const filter = 'search=n&from=2026-03-01&to=2026-03-01&zone=Europe%2FBerlin';
    const { html } = await charlie.open(`/?${filter}`);
    assert.match(html, /Export these/);
    const href = /href="(\/posts\/export\?[^"]+format=json)"/.exec(html)?.[1]?.replaceAll('&amp;', '&') ?? '';
    const exported = JSON.parse((await charlie.open(href)).html) as Post[];
    assert.deepEqual(
      exported.map(({ title }) => title),
      titlesIn(html),
    );
    assert.equal(exported.length, 1);
    assert.equal((await charlie.open('/posts/export?from=2026-13-01')).status, 400);
  });

  test('is filtered by sentiment if posts are classified', async () => {
    await cast.bob.create({ title: 'Praise', body: 'I love this, what a great day' });
    await until(async () => (await bob.open('/?sentiment=positive')).html.includes('Praise'));
    const { html } = await bob.open('/?sentiment=positive');
    assert.match(html, /<option value="positive" selected>Positive/);
    assert.doesNotMatch(html, />Midnight</);
    await using off = await startTestSystem({ INFERENCE: 'off' });
    const others = await visitorsOf(off);
    await (await castOf(off)).bob.create();
    const page = await others.bob.open('/?sentiment=positive');
    assert.match(page.html, /Sentiment is not known/);
    assert.doesNotMatch(page.html, /name="sentiment"/);
  });
});

describe('deleting selected posts', () => {
  const create = async (count: number) => {
    const created = [];
    for (let number = 1; number <= count; number++) {
      created.push(await cast.bob.create({ title: `Goes ${number}`, body: 'x' }));
    }
    return created.map(({ id }) => id);
  };
  const exists = async (id: number) => (await cast.bob.get(`/posts/${id}`)).status === 200;

  test('names them first, and returns to the list', async () => {
    const [one = 0, two = 0, three = 0] = await create(3);
    assert.match(
      (await bob.open('/')).html,
      new RegExp(`name="id" value="${one}" aria-label="Select Goes 1"`),
    );
    const asked = await bob.open(`/posts/delete?id=${one}&id=${two}&id=${one}&back=/?page=2`);
    assert.match(
      asked.html,
      /Delete 2 posts\?[\s\S]*>Goes 1<[\s\S]*of admin[\s\S]*>Goes 2<[\s\S]*href="\/\?page=2"/,
    );
    assert.doesNotMatch(asked.html, /name="code"/);
    assert.deepEqual(idsIn(asked.html), [one, two]);
    assert.ok(await exists(one));
    const done = await bob.send('/posts/delete', { id: [String(one), String(two)], back: '/?page=2' });
    assert.deepEqual([done.status, done.headers.get('location')], [303, '/?page=2']);
    assert.match((await bob.open('/')).html, /2 posts deleted\./);
    assert.deepEqual([await exists(one), await exists(two), await exists(three)], [false, false, true]);
    const again = await bob.send('/posts/delete', { id: [String(one), String(three)] });
    assert.equal(again.headers.get('location'), '/');
    assert.match((await bob.open('/')).html, /1 post deleted\. 1 post had been deleted before\./);
  });

  test('needs a second factor from an editor, once for all of them', async () => {
    const ids = (await create(2)).map(String);
    const path = `/posts/delete?${ids.map((id) => `id=${id}`).join('&')}`;
    assert.match((await alice.open(path)).html, /Set up an authenticator app first/);
    const app = await setUpApp(alice, system.passwords.editor, clock);
    clock.advance(6 * 60_000);
    assert.match((await alice.open(path)).html, /name="code"/);
    const wrong = await alice.send('/posts/delete', { id: ids, code: '000000' });
    assert.equal(wrong.status, 401);
    assert.match(wrong.html, /Goes 1[\s\S]*Goes 2[\s\S]*aria-invalid="true"/);
    assert.ok(await exists(Number(ids[0])));
    assert.equal((await alice.send('/posts/delete', { id: ids, code: app.code() })).status, 303);
    assert.equal(await exists(Number(ids[0])), false);
  });

  test('is refused without the right, and without a selection', async () => {
    const [id = 0] = await create(1);
    assert.equal((await charlie.open(`/posts/delete?id=${id}`)).status, 403);
    assert.equal((await charlie.send('/posts/delete', { id: String(id) })).status, 403);
    assert.doesNotMatch((await charlie.open('/')).html, /type="checkbox"/);
    for (const query of ['', '?id=x', '?id=0&id=-1', '?id=99999999999999999999']) {
      const { status, html } = await bob.open(`/posts/delete${query}`);
      assert.equal(status, 422, query);
      assert.match(html, /No posts are selected/);
    }
    assert.match((await bob.open('/posts/delete?id=999999')).html, /These posts no longer exist/);
    assert.equal((await bob.send('/posts/delete', {})).status, 422);
    const away = await bob.send('/posts/delete', { id: String(id), back: '//evil.example/' });
    assert.equal(away.headers.get('location'), '/');
  });
});
