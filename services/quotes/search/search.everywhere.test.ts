import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startQuotes, type TestQuotes } from '../testing.ts';

let app: TestQuotes;
const names = new Map<number, string>();
before(async () => {
  app = await startQuotes();
  for (const [name, text, author, category] of [
    ['bard', 'To be, or not to be: that is the question.', 'William Shakespeare', 'Life'],
    ['zola', 'I am here to live out loud!', 'Émile Zola', 'Courage'],
    [
      'fears',
      'Courage is resistance to fear, and courage is not the absence of fears.',
      'Mark Twain',
      'Wisdom',
    ],
    ['happy', 'The happiest people are loving their happiness.', 'Somebody', 'Happiness'],
    ['twain', 'Never put off what you can do the day after.', 'Mark Twain', 'Humor'],
    ['goethe', 'Who wants to live must find courage.', 'Goethe', 'Hope'],
  ] as const) {
    names.set(await app.add({ text, author, category }), name);
  }
});
after(() => app[Symbol.asyncDispose]());

async function found(search: string, more = ''): Promise<string[]> {
  const { status, json, headers } = await app.call(
    'GET',
    `/api/quotes/?search=${encodeURIComponent(search)}${more}`,
  );
  assert.equal(status, 200, search);
  if (more === '') assert.equal(headers.get('x-total-count'), String(json.length), search);
  return json.map(({ id }: { id: number }) => names.get(id));
}

describe('a search', () => {
  test('finds words in texts, authors and categories, in any form, case and accent', async () => {
    const cases: Record<string, string[]> = {
      'EMILE zola': ['zola'],
      émile: ['zola'],
      'twain fear': ['fears'],
      fearing: ['fears'],
      'love happy': ['happy'],
      'to be': ['bard'],
      'twain humor': ['twain'],
      'zola fear': [],
      nothing: [],
    };
    for (const [search, expected] of Object.entries(cases)) {
      assert.deepEqual(await found(search), expected, search);
    }
  });

  test('finds phrases, prefixes and what is without a word', async () => {
    const cases: Record<string, string[]> = {
      '"not to be"': ['bard'],
      '"be to not"': [],
      'happ*': ['happy'],
      'coura* -twain': ['zola', 'goethe'],
      'courage -"resistance to fear" -loud': ['goethe'],
      'live -courage': [],
    };
    for (const [search, expected] of Object.entries(cases)) {
      assert.deepEqual(await found(search), expected, search);
    }
  });

  test('puts matches in author and category first, then the better match, then the smaller id', async () => {
    assert.deepEqual(await found('courage'), ['zola', 'fears', 'goethe']);
    assert.deepEqual(await found('mark twain'), ['fears', 'twain']);
    assert.deepEqual(await found('live'), ['zola', 'goethe']);
  });

  test('tells words apart that differ by their signs', async () => {
    for (const [name, text] of [
      ['cpp', 'C++ makes it harder to shoot yourself in the foot.'],
      ['sharp', 'Whoever writes C# has a compiler that helps.'],
      ['both', 'From C++ to C# in a weekend.'],
    ] as const)
      names.set(await app.add({ text, author: 'A programmer', category: 'Code' }), name);
    const cases: Record<string, string[]> = {
      'c++': ['both', 'cpp'],
      'C#': ['sharp', 'both'],
      '"C++ makes"': ['cpp'],
      'code c# -c++': ['sharp'],
      'code -c#': ['cpp'],
      'c++ foot': ['cpp'],
      'C# foot': [],
    };
    for (const [search, expected] of Object.entries(cases)) {
      assert.deepEqual((await found(search)).toSorted(), expected.toSorted(), search);
      assert.deepEqual(await found(search, '&limit=1&offset=1'), (await found(search)).slice(1, 2), search);
    }
    const browser = await app.browser();
    assert.match((await browser.open('/search/?q=c%2B%2B')).html, /2 quotes</);
  });

  test('of any text is an answer', async () => {
    for (const search of [
      '"',
      '* ( ) - -- ""',
      '?!',
      'AND',
      'NEAR(x',
      "'; DROP TABLE quote",
      'a:b',
      '-courage',
      '\\',
    ]) {
      await found(search);
    }
    assert.deepEqual(await found('?!'), []);
    assert.deepEqual(await found('courage"'), ['zola', 'fears', 'goethe']);
    assert.equal((await found(' ')).length, names.size);
  });

  test('can be narrowed to an author and a category, and comes in pages', async () => {
    assert.deepEqual(await found('courage', '&author=mark twain'), ['fears']);
    assert.deepEqual(await found('courage', '&category=hope'), ['goethe']);
    assert.deepEqual(await found('courage', '&limit=1&offset=1'), ['fears']);
    const { headers } = await app.call('GET', '/api/quotes/?search=courage&limit=1&offset=1');
    assert.equal(headers.get('x-total-count'), '3');
    assert.match(headers.get('link') ?? '', /search=courage&limit=1&offset=2>; rel="next"/);
  });

  test('finds a quote as it is now', async () => {
    const { alice: token } = app.tokens;
    const id = await app.add({ text: 'Quokkas smile.', category: 'Animals' });
    names.set(id, 'quokka');
    assert.deepEqual(await found('quokka animal'), ['quokka']);
    await app.call('PATCH', `/api/quotes/${id}/`, { token, body: { text: 'Wombats dig.' } });
    assert.deepEqual(await found('quokka'), []);
    assert.deepEqual(await found('wombat'), ['quokka']);
    await app.call('DELETE', `/api/quotes/${id}/`, { token });
    assert.deepEqual(await found('wombat'), []);
  });
});

test('the page marks what matches, and knows its pages', async () => {
  const browser = await app.browser();
  const { html } = await browser.open('/search/?q=courage+twain');
  assert.match(html, /<mark>Courage<\/mark> is resistance/);
  assert.match(html, /Mark <mark>Twain<\/mark>/);
  assert.match(html, /1 quote</);
  assert.match((await browser.open('/search/?q=%22%3Cscript%3E')).html, /No matching quotes/);
  assert.match((await browser.open('/search/')).html, /What you can search for/);
  for (let number = 0; number < 25; number++)
    await app.add({ text: `Lemurs leap ${number}`, category: 'Leaps' });
  const pages = async (page: string) => (await browser.open(`/search/?q=lemur&page=${page}`)).html;
  assert.match(await pages('1'), /1–20 of 25/);
  assert.match(await pages('abc'), /1–20 of 25/);
  assert.match(await pages('2'), /21–25 of 25/);
  assert.match(await pages('999'), /21–25 of 25/);
});
