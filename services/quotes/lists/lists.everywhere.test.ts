import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startQuotes, type TestQuotes } from '../testing.ts';

let app: TestQuotes;
before(async () => {
  app = await startQuotes();
});
after(() => app[Symbol.asyncDispose]());

const textsIn = (html: string) =>
  [...html.matchAll(/<a href="\/quotes\/\d+\/">“([^”]+)”<\/a>/g)].map(([, text]) => text);
const like = (id: number, token: string) => app.call('POST', `/api/quotes/${id}/like/`, { token });

test('an author has a page with their quotes, in any spelling of the name', async () => {
  const id = await app.add({ text: 'First of hers.', author: 'Zoë / Ünal & Co', category: 'Authors' });
  await app.add({ text: 'Second of hers.', author: 'ZOË / ÜNAL & CO', category: 'Authors' });
  await app.add({ text: 'Of another.', author: 'Zoë', category: 'Authors' });
  const stranger = await app.browser();
  const link = /<figcaption><a href="([^"]+)">/.exec((await stranger.open(`/quotes/${id}/`)).html)?.[1] ?? '';
  assert.equal(link, '/authors/Zo%C3%AB%20%2F%20%C3%9Cnal%20%26%20Co/');
  const { status, html } = await stranger.open(link);
  assert.equal(status, 200);
  assert.deepEqual(textsIn(html), ['First of hers.', 'Second of hers.']);
  assert.match(html, /<h1 class="title">Zoë \/ Ünal &amp; Co<\/h1><p class="lead">2 quotes/);
  assert.deepEqual(textsIn((await stranger.open('/authors/ZO%C3%8B/')).html), ['Of another.']);
  assert.equal((await stranger.open('/authors/nobody/')).status, 404);
  assert.equal((await stranger.open('/authors/zoe')).location, '/authors/zoe/');
});

test('an author whose quotes all wait has no page for strangers', async () => {
  await using moderated = await startQuotes({ environment: { QUOTES_MODERATION: '1' } });
  await moderated.add({ text: 'It waits.', author: 'Secret Person' });
  assert.equal((await (await moderated.browser()).open('/authors/Secret%20Person/')).status, 404);
  assert.doesNotMatch((await (await moderated.browser()).open('/quotes/')).html, /Secret/);
});

test('a list is in the order that the reader chooses', async () => {
  const { bob, charlie } = app.tokens;
  const given = { author: 'Order', category: 'Orders' };
  const first = await app.add({ ...given, text: 'One.' });
  const second = await app.add({ ...given, text: 'Two.' });
  await app.add({ ...given, text: 'Three.' });
  await like(second, bob);
  await like(second, charlie);
  await like(first, bob);
  const stranger = await app.browser();
  for (const path of ['/authors/order/', '/categories/orders/']) {
    const of = async (query: string) => textsIn((await stranger.open(`${path}${query}`)).html);
    assert.deepEqual(await of('?order=newest'), ['Three.', 'Two.', 'One.'], path);
    assert.deepEqual(await of('?order=liked'), ['Two.', 'One.', 'Three.'], path);
    assert.deepEqual(await of(''), ['One.', 'Two.', 'Three.'], path);
    assert.deepEqual(await of('?order=nonsense'), ['One.', 'Two.', 'Three.'], path);
  }
  const all = await stranger.open('/quotes/?order=liked');
  assert.deepEqual(textsIn(all.html).slice(0, 2), ['Two.', 'One.']);
  assert.match(all.html, /href="\/quotes\/\?order=liked" aria-current="true"/);
});

test('pages of a list keep its order', async () => {
  for (let number = 1; number <= 21; number++)
    await app.add({ text: `Page ${number}.`, author: 'Pager', category: 'Pages' });
  const { html } = await (await app.browser()).open('/authors/pager/?order=newest&page=2');
  assert.deepEqual(textsIn(html), ['Page 1.']);
  assert.match(html, /href="\/authors\/Pager\/\?order=newest"/);
  assert.equal(textsIn((await (await app.browser()).open('/authors/pager/?page=99')).html).length, 1);
});

test('readers see what they like; strangers sign in first', async () => {
  const liked = await app.add({ text: 'Liked by Charlie.' });
  const taken = await app.add({ text: 'Taken back.' });
  await app.add({ text: 'Not liked.' });
  const charlie = await app.browser('charlie');
  const before = textsIn((await charlie.open('/likes/')).html);
  await like(liked, app.tokens.charlie);
  await like(taken, app.tokens.charlie);
  await app.call('DELETE', `/api/quotes/${taken}/like/`, { token: app.tokens.charlie });
  assert.deepEqual(textsIn((await charlie.open('/likes/')).html), ['Liked by Charlie.', ...before]);
  assert.match((await charlie.open('/')).html, /href="\/likes\/">My likes/);
  const alice = await app.browser('alice');
  assert.match((await alice.open('/likes/')).html, /No likes yet/);
  const stranger = await (await app.browser()).open('/likes/');
  assert.deepEqual([stranger.status, stranger.location], [303, '/accounts/login/?next=/likes/']);
});
