import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { fetchPng } from '@octavo/testing';
import { password, startQuotes, type TestQuotes } from './testing.ts';

let app: TestQuotes;
before(async () => {
  app = await startQuotes({ environment: { QUOTES_URL: 'https://quotes.example/' } });
});
after(() => app[Symbol.asyncDispose]());

const attack = '"><script>alert(1)</script>';

describe('the page of a quote', () => {
  test('shows its text, author and source, and tells machines what it is', async () => {
    const id = await app.add({
      text: 'First line\nSecond line',
      author: 'Ada & Co',
      category: 'Verse',
      source: 'Poems (1890)',
      attribution: 'disputed',
    });
    const { status, html } = await (await app.browser()).open(`/quotes/${id}/`);
    assert.equal(status, 200);
    assert.match(html, /<span class="line">“First line<\/span><span class="line">Second line”<\/span>/);
    assert.match(html, /Ada &amp; Co<\/a>, <cite>Poems \(1890\)<\/cite>/);
    assert.match(html, /Disputed/);
    assert.match(html, /<title>Ada &amp; Co: First line \/ Second line · Quotes<\/title>/);
    assert.match(html, new RegExp(`<link rel="canonical" href="https://quotes\\.example/quotes/${id}/">`));
    assert.ok(html.includes(`og:image" content="https://quotes.example/quotes/${id}/card.png"`));
    assert.match(
      html,
      /<meta name="description" content="“First line \/ Second line” — Ada &amp; Co, Poems \(1890\)">/,
    );
  });

  test('has likes for readers; a stranger signs in and comes back', async () => {
    const id = await app.add();
    const stranger = await app.browser();
    await stranger.open(`/quotes/${id}/`);
    const sent = await stranger.send(`/quotes/${id}/like/`, { liked: '1', back: `/quotes/${id}/` });
    assert.equal(sent.status, 303);
    const signIn = sent.headers.get('location') ?? '';
    assert.equal(signIn, `/accounts/login/?next=/quotes/${id}/`);
    assert.match((await stranger.open(signIn)).html, new RegExp(`name="next" value="/quotes/${id}/"`));
    const back = await stranger.send('/accounts/login/', {
      username: 'bob',
      password,
      next: `/quotes/${id}/`,
    });
    assert.equal(back.headers.get('location'), `/quotes/${id}/`);
    assert.match((await stranger.open(`/quotes/${id}/`)).html, /aria-pressed="false"/);
    for (const [liked, pressed] of [
      ['1', 'true'],
      ['1', 'true'],
      ['0', 'false'],
    ] as const) {
      const { status, headers } = await stranger.send(`/quotes/${id}/like/`, {
        liked,
        back: `/quotes/${id}/`,
      });
      assert.deepEqual([status, headers.get('location')], [303, `/quotes/${id}/`]);
      assert.match((await stranger.open(`/quotes/${id}/`)).html, new RegExp(`aria-pressed="${pressed}"`));
    }
    const elsewhere = await stranger.send(`/quotes/${id}/like/`, {
      liked: '1',
      back: 'https://evil.example/',
    });
    assert.equal(elsewhere.headers.get('location'), '/');
  });

  test('takes comments of readers, and keeps what is wrong in its form', async () => {
    const id = await app.add();
    const bob = await app.browser('bob');
    await bob.open(`/quotes/${id}/`);
    const sent = await bob.send(`/quotes/${id}/comments/`, { text: ` Fine\r\nwords ${attack} ` });
    assert.match(sent.location, new RegExp(`^/quotes/${id}/#comment-\\d+$`));
    const { html } = await bob.open((sent.headers.get('location') ?? '').replace(/#.*/, ''));
    assert.match(html, /1 comment</);
    assert.match(html, /<p>Fine\nwords &quot;&gt;&lt;script&gt;/);
    const long = await bob.send(`/quotes/${id}/comments/`, { text: 'y'.repeat(2_001) });
    assert.equal(long.status, 400);
    assert.match(long.html, /no more than 2000 characters/);
    assert.match(long.html, /y{2001}/);
    const path = /action="(\/quotes\/\d+\/comments\/\d+\/delete\/)"/.exec(html)?.[1] ?? '';
    const charlie = await app.browser('charlie');
    assert.doesNotMatch((await charlie.open(`/quotes/${id}/`)).html, /\/delete\//);
    assert.equal((await charlie.send(path, {})).status, 403);
    assert.equal((await bob.send(path, {})).status, 303);
    assert.match((await bob.open(`/quotes/${id}/`)).html, /The comment is deleted\..*No comments yet/s);
    const stranger = await app.browser();
    const refused = await stranger.send(`/quotes/${id}/comments/`, { text: 'x' });
    assert.equal(refused.headers.get('location'), `/accounts/login/?next=/quotes/${id}/%23comments`);
  });

  test('is changed and deleted by who added it', async () => {
    const id = await app.add({ text: 'Before.' });
    const alice = await app.browser('alice');
    assert.match((await alice.open(`/quotes/${id}/`)).html, />Edit</);
    assert.match((await alice.open(`/quotes/${id}/edit/`)).html, />\s*Before\.<\/textarea>/);
    const fields = {
      text: 'After.',
      author: 'Alice',
      category: 'Change',
      source: '',
      attribution: 'verified',
    };
    assert.equal((await alice.send(`/quotes/${id}/edit/`, fields)).status, 303);
    assert.match((await alice.open(`/quotes/${id}/`)).html, /The quote is changed\..*“After\.”/s);
    const wrong = await alice.send(`/quotes/${id}/edit/`, { ...fields, author: ' ' });
    assert.equal(wrong.status, 400);
    assert.match(wrong.html, /Author may not be blank/);
    const bob = await app.browser('bob');
    await bob.open('/quotes/new/');
    for (const path of ['edit/', 'delete/']) {
      assert.equal((await bob.open(`/quotes/${id}/${path}`)).status, 403);
      assert.equal((await bob.send(`/quotes/${id}/${path}`, fields)).status, 403);
    }
    const added = await bob.send('/quotes/new/', { ...fields, author: 'Bob' });
    assert.match(added.headers.get('location') ?? '', /^\/quotes\/\d+\/$/);
    const again = await bob.send('/quotes/new/', fields);
    assert.deepEqual([again.status, /This quote is already here/.test(again.html)], [400, true]);
    assert.match((await alice.open(`/quotes/${id}/delete/`)).html, /Delete “After\.”\?/);
    assert.equal((await alice.send(`/quotes/${id}/delete/`, {})).status, 303);
    assert.equal((await alice.open(`/quotes/${id}/`)).status, 404);
  });

  test('can be reported by readers', async () => {
    const id = await app.add();
    const bob = await app.browser('bob');
    assert.match((await bob.open(`/quotes/${id}/report/`)).html, /What is wrong with it/);
    const none = await bob.send(`/quotes/${id}/report/`, { note: 'hm' });
    assert.deepEqual([none.status, /Choose a reason/.test(none.html)], [400, true]);
    assert.equal((await bob.send(`/quotes/${id}/report/`, { reason: 'typo', note: '' })).status, 303);
    const stranger = await app.browser();
    assert.equal((await stranger.open(`/quotes/${id}/report/`)).status, 303);
  });

  test('escapes everything that people write', async () => {
    const id = await app.add({ text: attack, author: attack, category: attack, source: attack });
    const { alice } = app.tokens;
    await app.call('POST', `/api/quotes/${id}/comments/`, { token: alice, body: { text: attack } });
    const browser = await app.browser('alice');
    const { slug } = (await app.call('GET', '/api/categories/')).json.at(-1);
    const paths = [`/quotes/${id}/`, `/quotes/${id}/edit/`, `/categories/${slug}/`, '/'];
    for (const path of [...paths, `/search/?q=${encodeURIComponent(attack)}`]) {
      const { status, html } = await browser.open(path);
      assert.equal(status, 200, path);
      assert.doesNotMatch(html, /<script>alert/, path);
    }
  });

  test('is not there under wrong numbers', async () => {
    for (const id of ['abc', '0', '99999', '99999999999999999999', '%00']) {
      const { status, html } = await (await app.browser()).open(`/quotes/${id}/`);
      assert.deepEqual([status, /Page not found/.test(html)], [404, true], id);
    }
    const moved = await (await app.browser()).open('/quotes/1');
    assert.deepEqual([moved.status, moved.headers.get('location')], [301, '/quotes/1/']);
  });
});

test('a category has its quotes, 20 a page', async () => {
  for (let number = 1; number <= 21; number++) await app.add({ category: 'Many things' });
  const browser = await app.browser();
  const page = async (query: string) => (await browser.open(`/categories/many-things/${query}`)).html;
  assert.match(await page(''), /21 quotes.*1–20 of 21/s);
  assert.match(await page('?page=abc'), /1–20 of 21/);
  assert.match(await page('?page=0'), /1–20 of 21/);
  assert.match(await page('?page=99'), /21–21 of 21/);
  assert.match(await page(`?page=${'9'.repeat(30)}`), /21–21 of 21/);
  assert.equal((await browser.open('/categories/none/')).status, 404);
});

describe('accounts', () => {
  test('are created by a form, which says what is wrong', async () => {
    const browser = await app.browser();
    await browser.open('/accounts/signup/?next=/search/');
    const send = (fields: Record<string, string>) =>
      browser.send('/accounts/signup/', { next: '/search/', email: '', ...fields });
    assert.match((await send({ username: '', password: '' })).html, /User name is required/);
    assert.match((await send({ username: 'Alice', password })).html, /already/);
    const weak = await send({ username: 'heidi', password: 'password123' });
    assert.equal(weak.status, 400);
    assert.match(weak.html, /value="heidi"/);
    assert.doesNotMatch(weak.html, /password123/);
    const made = await send({ username: 'heidi', password });
    assert.deepEqual([made.status, made.headers.get('location')], [303, '/search/']);
    assert.match((await browser.open('/search/')).html, /Sign out.*Welcome, heidi\./s);
    await browser.send('/accounts/logout/', {});
    assert.match((await browser.open('/search/')).html, /Sign in/);
  });

  test('the sign-in leads only to paths of this site, and does not tell who has an account', async () => {
    for (const next of [
      'https://evil.example/',
      '//evil.example',
      '/\\evil.example',
      'javascript:alert(1)',
    ]) {
      const browser = await app.browser();
      const { html } = await browser.open(`/accounts/login/?next=${encodeURIComponent(next)}`);
      assert.match(html, /name="next" value="\/"/);
      const sent = await browser.send('/accounts/login/', { username: 'bob', password, next });
      assert.deepEqual([sent.status, sent.headers.get('location')], [303, '/'], next);
    }
    const browser = await app.browser();
    await browser.open('/accounts/login/');
    const [known, unknown] = await Promise.all(
      ['bob', 'nobody'].map((username) =>
        browser.send('/accounts/login/', { username, password: 'wrong one here', next: '/' }),
      ),
    );
    assert.deepEqual([known?.status, unknown?.status], [401, 401]);
    assert.match(known?.html ?? '', /The username or the password is wrong/);
    assert.match(unknown?.html ?? '', /The username or the password is wrong/);
  });

  test('forms without a token, or from another site, are refused', async () => {
    const id = await app.add();
    const bob = await app.browser('bob');
    await bob.open(`/quotes/${id}/`);
    const without = await bob.send(`/quotes/${id}/like/`, { _csrf: '', liked: '1' });
    assert.equal(without.status, 403);
    const foreign = await bob.send(`/quotes/${id}/like/`, { liked: '1' }, { 'sec-fetch-site': 'cross-site' });
    assert.equal(foreign.status, 403);
    assert.deepEqual((await app.call('GET', `/api/quotes/${id}/`)).json.like_set, []);
  });

  test('cookies over HTTPS are Secure and named __Host-', async () => {
    await using secure = await startQuotes({ environment: { TRUST_PROXY: '1' } });
    const response = await fetch(`${secure.url}/accounts/login/`, {
      headers: { accept: 'text/html', 'x-forwarded-proto': 'https', 'x-forwarded-for': '203.0.113.7' },
    });
    const [cookie = ''] = response.headers.getSetCookie();
    assert.match(cookie, /^__Host-quotes_session=/);
    assert.match(cookie, /HttpOnly; Secure; SameSite=Lax/);
  });
});

test('a picture for sharing has the text, the author and the source', async () => {
  const pictureOf = async (quote: { text: string; author: string; source?: string }) =>
    fetchPng(`${app.url}/quotes/${await app.add(quote)}/card.png`);
  const long = await pictureOf({ text: `${'Some words to wrap '.repeat(40)}end.`, author: 'Wrapper' });
  assert.equal(long.headers.get('content-type'), 'image/png');
  assert.equal(long.headers.get('cross-origin-resource-policy'), 'cross-origin');
  assert.deepEqual([long.picture.width, long.picture.height], [1_200, 630]);
  const words = { x: 80, y: 60, width: 1_040, height: 400 };
  const isInk = (red: number) => red < 100;
  assert.ok(long.picture.count(words, isInk) > 10_000);
  assert.equal(long.picture.count({ ...words, x: 1_121, width: 79 }, isInk), 0, 'lines fit');
  assert.ok(long.picture.count({ x: 120, y: 500, width: 400, height: 60 }, isInk) > 500, 'the author');
  const foreign = await pictureOf({
    text: '古池や 蛙飛びこむ 水の音',
    author: 'Matsuo Bashō',
    source: 'שלום',
  });
  const plain = await pictureOf({ text: 'مرحبا 😀', author: 'Matsuo Bashō' });
  const inkOf = ({ picture }: typeof plain) => picture.count(words, isInk);
  assert.ok(
    inkOf(foreign) > 500 && inkOf(foreign) === inkOf(plain),
    'what the font lacks is named, not drawn',
  );
  assert.equal((await app.call('GET', '/quotes/99999/card.png')).status, 404);
});
