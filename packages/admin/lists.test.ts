import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { testDatabaseUrl } from '@octavo/testing/engines';
import { pageRows } from './lists/state.ts';
import { fieldsOf, titlesIn, unescaped } from './testing/forms.ts';
import { addBooks, startLibrary } from './testing/start.ts';

const postgres = await testDatabaseUrl();

describe('lists on SQLite', () => cases(undefined));
describe('lists on PostgreSQL', { skip: postgres.skip }, () => cases(postgres.url));

function cases(url: string | undefined): void {
  test('search finds every word, in titles and in what references name, whatever the words are', async () => {
    const { alice, database } = await open();
    const author = await database.kysely
      .insertInto('author')
      .values({ name: 'Ursula K. Le Guin' } as never)
      .returning('id')
      .executeTakeFirstOrThrow();
    await addBooks(database, [
      { title: 'The Dispossessed', author_id: author.id },
      { title: 'The Left Hand of Darkness', author_id: author.id },
      { title: '100% Wool_en' },
      { title: 'Quotes "and" \\ backslashes' },
    ]);
    const found = async (q: string) =>
      titlesIn((await alice.open(`/admin/library/book/?q=${encodeURIComponent(q)}`)).html);
    assert.deepEqual(await found('guin dispossessed'), ['The Dispossessed']);
    assert.deepEqual(await found('LEFT hand'), ['The Left Hand of Darkness']);
    assert.deepEqual(await found('%'), ['100% Wool_en']);
    assert.deepEqual(await found('l_e'), ['100% Wool_en']);
    assert.deepEqual(await found('"and" \\'), ['Quotes "and" \\ backslashes']);
    assert.deepEqual(await found("' or 1=1 --"), []);
    assert.deepEqual(await found('a\0b \0'), []);
    assert.equal((await found('')).length, 4);
  });

  test('search minds neither case nor accents, in any script', async () => {
    const { alice, database } = await open();
    const titles = [
      'Ärger im Büro',
      'ПРИВЕТ, ёжик',
      'Café',
      'Straße',
      'ΟΔΥΣΣΕΎΣ',
      'İstanbul',
      'Œuvres [1]',
      '東京ガイド',
    ];
    await addBooks(
      database,
      titles.map((title) => ({ title })),
    );
    const found = async (q: string) =>
      titlesIn((await alice.open(`/admin/library/book/?q=${encodeURIComponent(q)}`)).html);
    for (const [q, title] of [
      ['ärger BURO', 'Ärger im Büro'],
      ['привет Ежик', 'ПРИВЕТ, ёжик'],
      ['CAFE\u0301', 'Café'],
      ['cafe', 'Café'],
      ['STRASSE', 'Straße'],
      ['gros', undefined],
      ['tras', 'Straße'],
      ['οδυσσευς', 'ΟΔΥΣΣΕΎΣ'],
      ['istanbul', 'İstanbul'],
      ['oeuvres [1]', 'Œuvres [1]'],
      ['ガイド', '東京ガイド'],
    ] as const)
      assert.deepEqual(await found(q), title === undefined ? [] : [title], q);
    const { html } = await alice.open('/admin/search/?q=привет');
    assert.match(html, /ПРИВЕТ/);
  });

  test('filters narrow by choices, flags, references, periods and own conditions', async () => {
    const { alice, database } = await open();
    const { id } = await database.kysely
      .insertInto('author')
      .values({ name: 'Calvino' } as never)
      .returning('id')
      .executeTakeFirstOrThrow();
    await addBooks(database, [
      { title: 'A', genre: 'poetry', is_lent: 1, published_at_ms: Date.UTC(2026, 5, 15, 3) },
      { title: 'B', author_id: id, pages: 900, published_at_ms: Date.UTC(2026, 5, 9, 3) },
      { title: 'C', published_at_ms: Date.UTC(2026, 5, 8, 3) },
      { title: 'D', published_at_ms: Date.UTC(2027, 0, 1) },
    ]);
    const cases: [string, string[]][] = [
      ['genre=poetry', ['A']],
      ['genre__exact=poetry', ['A']],
      ['is_lent=true', ['A']],
      ['is_lent__exact=1', ['A']],
      [`author=${id}`, ['B']],
      ['author=none', ['A', 'C', 'D']],
      ['size=long', ['B']],
      ['published=today', ['A']],
      ['published=week', ['A', 'B']],
      ['published=month', ['A', 'B', 'C']],
      ['published=year', ['A', 'B', 'C']],
      ['published=future', ['D']],
      ['genre=novel&size=short', ['C', 'D']],
    ];
    for (const [query, titles] of cases) {
      const { status, html } = await alice.open(`/admin/library/book/?${query}`);
      assert.equal(status, 200);
      assert.deepEqual(titlesIn(html).sort(), titles, query);
      assert.doesNotMatch(html, /was left out/, query);
    }
  });

  test('what makes no sense is left out with a notice', async () => {
    const { alice, database } = await open();
    await addBooks(database, [{ title: 'A' }]);
    for (const query of [
      ...['color=red', 'genre=opera', 'is_lent=maybe', 'author=abc', 'published=sometime', 'size=huge'],
      ...['o=99', 'o=abc', 'o=1.1', 'published__year=abc', 'published__year=2026&published__month=13'],
      ...['published__year=2026&published__month=2&published__day=30', '__proto__=1', 'constructor=1'],
    ]) {
      const { status, html } = await alice.open(`/admin/library/book/?${query}`);
      assert.equal(status, 200, query);
      assert.deepEqual(titlesIn(html), ['A'], query);
      assert.match(html, /was left out/, query);
    }
    for (const query of ['p=abc', 'p=0', 'p=-1', 'q=%ff'])
      assert.equal((await alice.open(`/admin/library/book/?${query}`)).status, 200);
    assert.equal((await alice.open('/admin/library/book/?p=7&q=A')).location, '/admin/library/book/?q=A');
  });

  test('an object that is saved or deleted leads back to its list as it was', async () => {
    const { alice, database } = await open();
    const books = Array.from({ length: pageRows + 1 }, (_, index) => ({ title: `Saga ${index}` }));
    await addBooks(database, [...books, { title: 'Other' }]);
    const list = '/admin/library/book/?q=saga&genre=novel&o=1&p=2';
    const { html } = await alice.open(list);
    const form = unescaped(/class="main"><a href="([^"]+)/.exec(html)?.[1] ?? '');
    const page = await alice.open(form);
    const action = unescaped(/class="stack object" method="post" action="([^"]+)/.exec(page.html)?.[1] ?? '');
    assert.ok(unescaped(page.html).includes(`href="${list}"`), 'the way up');
    const wrong = await alice.send(action, { ...fieldsOf(page.html), genre: 'opera' });
    assert.equal(wrong.status, 422);
    assert.ok(unescaped(wrong.html).includes(`action="${action}"`), 'after an error');
    const saved = await alice.send(action, { ...fieldsOf(page.html), pages: '7', _save: '1' });
    assert.equal(saved.location, list);
    const going = await alice.send(action, { ...fieldsOf(page.html), pages: '7', _continue: '1' });
    assert.equal(going.location, form);
    const history = unescaped(/href="([^"]+\/history\/[^"]*)/.exec(page.html)?.[1] ?? '');
    assert.ok(unescaped((await alice.open(history)).html).includes(`href="${form}"`), 'from the history');
    const remove = unescaped(/href="([^"]+\/delete\/[^"]*)/.exec(page.html)?.[1] ?? '');
    assert.ok(unescaped((await alice.open(remove)).html).includes(`action="${remove}"`));
    const deleted = await alice.send(remove, { post: 'yes' });
    assert.equal(deleted.location, list);
    // It was alone on the second page.
    const back = await alice.open(list);
    assert.equal(back.location, '/admin/library/book/?q=saga&genre=novel&o=1');
    assert.match((await alice.open(back.location)).html, /was deleted/);
    const forged = encodeURIComponent('next=//evil.example&q=a');
    const other = await alice.send(`/admin/library/book/add/?_changelist_filters=${forged}`, {
      ...fieldsOf((await alice.open('/admin/library/book/add/')).html),
      title: 'New',
    });
    assert.equal(other.location, '/admin/library/book/?q=a');
  });

  test('columns sort, several at once, and computed ones too', async () => {
    const { alice, database } = await open();
    const [first] = await addBooks(database, [
      { title: 'B', genre: 'novel' },
      { title: 'A', genre: 'novel' },
      { title: 'C', genre: 'history' },
    ]);
    await database.kysely
      .insertInto('copy')
      .values({ book_id: first, shelf: 'x', is_main: 0 } as never)
      .execute();
    const order = async (o: string) =>
      titlesIn((await alice.open(`/admin/library/book/?o=${o}`)).html).join('');
    assert.equal(await order(''), 'CAB', 'the declared order');
    assert.equal(await order('1'), 'ABC');
    assert.equal(await order('-1'), 'CBA');
    assert.equal(await order('3.-1'), 'CBA');
    assert.equal(await order('-3.1'), 'ABC');
    assert.equal((await order('-4'))[0], 'B', 'by number of copies');
    const { html } = await alice.open('/admin/library/book/?o=3.-1');
    assert.match(html, /aria-sort="ascending"><a href="\/admin\/library\/book\/\?o=-3\.-1"/);
    assert.match(html, /aria-sort="descending"><a href="\/admin\/library\/book\/\?o=-1\.3"/);
  });

  test('dates narrow to a year, a month and a day', async () => {
    const { alice, database } = await open();
    await addBooks(database, [
      { title: 'old', published_at_ms: Date.UTC(2024, 11, 31, 23, 59, 59, 999) },
      { title: 'new year', published_at_ms: Date.UTC(2025, 0, 1) },
      { title: 'leap', published_at_ms: Date.UTC(2024, 1, 29, 12) },
    ]);
    const all = await alice.open('/admin/library/book/');
    assert.match(
      all.html,
      /\(UTC\):<\/span>[^\n]*published__year=2024"[\s\S]*published__year=2025"[^\n]*<\/nav>/,
    );
    assert.match(all.html, /<label for="field-published">Published \(UTC\)<\/label>/);
    const found = async (query: string) => titlesIn((await alice.open(`/admin/library/book/?${query}`)).html);
    assert.deepEqual(await found('published__year=2024'), ['old', 'leap']);
    assert.deepEqual(await found('published__year=2024&published__month=2'), ['leap']);
    assert.deepEqual(await found('published__year=2024&published__month=2&published__day=29'), ['leap']);
    assert.deepEqual(await found('published__year=2025&published__month=1&published__day=1'), ['new year']);
  });

  test('a page full of long titles is below 50 kB', async () => {
    const { alice, database } = await open();
    const title = 'A long title with many words. '.repeat(8);
    await addBooks(
      database,
      Array.from({ length: 60 }, (_, index) => ({ title: `${index} ${title}` })),
    );
    const { html } = await alice.open('/admin/library/book/');
    assert.equal(titlesIn(html).length, 50);
    assert.ok(Buffer.byteLength(html) < 50_000, `${Buffer.byteLength(html)} bytes`);
  });

  test('a page has 50 rows; totals are exact to 10,000 and say so beyond', async () => {
    const { alice, database } = await open();
    await addBooks(
      database,
      Array.from({ length: 100 }, (_, index) => ({ title: `book ${index}` })),
    );
    assert.match((await alice.open('/admin/library/book/')).html, /1–50 of 100/);
    await addBooks(
      database,
      Array.from({ length: 9_900 / 3 }, (_, index) => ({ title: `more ${index}` })),
    );
    await addBooks(
      database,
      Array.from({ length: 9_900 / 3 }, (_, index) => ({ title: `more ${index}` })),
    );
    await addBooks(
      database,
      Array.from({ length: 9_900 / 3 }, (_, index) => ({ title: `more ${index}` })),
    );
    const full = await alice.open('/admin/library/book/?p=200');
    assert.match(full.html, /9,951–10,000 of 10,000/);
    assert.equal(titlesIn(full.html).length, 50);
    await addBooks(database, [{ title: 'one more' }]);
    const beyond = await alice.open('/admin/library/book/?p=2');
    assert.match(beyond.html, /51–100 of more than 10,000/);
    assert.equal(titlesIn((await alice.open('/admin/library/book/?p=201')).html).length, 1);
    assert.match((await alice.open('/admin/library/book/?q=one+more')).html, /1 row</);
    await addBooks(database, [{ title: 'A poem', genre: 'poetry' }]);
    const sorted = await alice.open('/admin/library/book/?genre=novel&is_lent=false&o=1');
    assert.match(sorted.html, /1–50 of more than 10,000/);
    assert.deepEqual(titlesIn(sorted.html).slice(0, 3), ['book 0', 'book 1', 'book 10']);
    assert.deepEqual(titlesIn((await alice.open('/admin/library/book/?genre=poetry&o=1')).html), ['A poem']);
  });

  test('an export holds all that match, in the order of the list, safely quoted', async () => {
    const { alice, database } = await open();
    await addBooks(database, [
      { title: '=1+1', genre: 'poetry' },
      { title: 'a "b", c\nd', genre: 'poetry', pages: null, is_lent: 1 },
      { title: 'other' },
    ]);
    const csv = await alice.open('/admin/library/book/export/?format=csv&genre=poetry&o=1');
    assert.equal(csv.headers.get('content-type'), 'text/csv; charset=utf-8; header=present');
    assert.match(
      csv.headers.get('content-disposition') ?? '',
      /^attachment; filename="library_book_20260615_120000\.csv"$/,
    );
    assert.equal(
      csv.html,
      'id,title,author,genre,pages,is_lent,published,added\r\n' +
        "1,'=1+1,,poetry,100,false,2026-01-01T00:00:00Z,2026-01-01T00:00:00.123456Z\r\n" +
        '2,"a ""b"", c\nd",,poetry,,true,2026-01-02T00:00:00Z,2026-01-01T00:00:00.123456Z\r\n',
    );
    const json = await alice.open('/admin/library/book/export/?format=json&q=other');
    assert.deepEqual(JSON.parse(json.html), [
      {
        id: 3,
        title: 'other',
        author: null,
        genre: 'novel',
        pages: 100,
        is_lent: false,
        published: '2026-01-03T00:00:00Z',
        added: '2026-01-01T00:00:00.123456Z',
      },
    ]);
    assert.equal((await alice.open('/admin/library/book/export/?format=xml')).status, 400);
    assert.deepEqual(JSON.parse((await alice.open('/admin/library/notice/export/?format=json')).html), []);
  });

  async function open() {
    const library = await startLibrary(url);
    return { ...library, alice: await library.signedIn('alice') };
  }
}
