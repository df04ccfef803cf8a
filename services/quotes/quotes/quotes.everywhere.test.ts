import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { configOf, openServiceDatabase } from '@octavo/data/service';
import { writesDuring } from '@octavo/testing';
import { sql } from 'kysely';
import { Registry } from 'prom-client';
import { quotes } from '../service.ts';
import type { Tables } from '../tables.ts';
import { startQuotes, type TestQuotes } from '../testing.ts';

let app: TestQuotes;
before(async () => {
  app = await startQuotes();
});
after(() => app[Symbol.asyncDispose]());

const body = { text: 'Brevity is the soul of wit.', author: 'William Shakespeare', category: 'Wit' };
const required = ['This field is required.'];

describe('a quote', () => {
  test('is added with its author, category and source, and read by anybody', async () => {
    const { status, json, headers } = await app.call('POST', '/api/quotes/', {
      token: app.tokens.alice,
      body: { ...body, source: ' Hamlet, Act II ', attribution: 'verified', id: 99, unknown: 1 },
    });
    assert.equal(status, 201);
    assert.equal(headers.get('location'), `/api/quotes/${json.id}/`);
    const expected = {
      id: json.id,
      ...body,
      like_set: [],
      source: 'Hamlet, Act II',
      attribution: 'verified',
    };
    assert.deepEqual(json, expected);
    assert.deepEqual((await app.call('GET', `/api/quotes/${json.id}/`)).json, expected);
    const { json: list } = await app.call('GET', '/api/quotes/');
    assert.deepEqual(
      list.find(({ id }: { id: number }) => id === json.id),
      expected,
    );
    const head = await app.call('HEAD', `/api/quotes/${json.id}/`);
    assert.deepEqual([head.status, head.text], [200, '']);
  });

  test('with very many comments is deleted while others write', async () => {
    const id = await app.add();
    const place = { ...app.context, metrics: new Registry() };
    await using database = await openServiceDatabase<Tables>(
      quotes,
      configOf(quotes, app.environment),
      place,
    );
    await sql`INSERT INTO comment (quote_id, user_id, text, created_at_ms)
      WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
      SELECT quote.id, created_by, 'Yes', 1 FROM quote, n WHERE quote.id = ${id}`.execute(database.kysely);
    const deletion = app.call('DELETE', `/api/quotes/${id}/`, { token: app.tokens.alice });
    const writes = await writesDuring(deletion, () => app.add());
    assert.ok(writes >= (database.dialect === 'sqlite' ? 8 : 1), `${writes} writes`);
    assert.equal((await deletion).status, 204);
    assert.deepEqual(await database.kysely.selectFrom('comment').selectAll().execute(), []);
  });

  test('is changed in whole or in part, and deleted', async () => {
    const id = await app.add({ text: 'To be changed.' });
    const path = `/api/quotes/${id}/`;
    const { alice: token } = app.tokens;
    const put = await app.call('PUT', path, {
      token,
      body: { ...body, text: 'Changed.', category: 'Change' },
    });
    assert.deepEqual([put.status, put.json.text, put.json.category], [200, 'Changed.', 'Change']);
    assert.deepEqual((await app.call('PUT', path, { token, body: { text: 'x' } })).json, {
      author: required,
      category: required,
    });
    const form = new URLSearchParams({ source: 'Letters' });
    assert.equal((await app.call('PATCH', path, { token, body: form })).json.source, 'Letters');
    form.set('source', '');
    assert.equal((await app.call('PATCH', path, { token, body: form })).json.source, '');
    const patched = await app.call('PATCH', path, { token, body: { attribution: 'disputed' } });
    assert.deepEqual([patched.json.text, patched.json.attribution], ['Changed.', 'disputed']);
    assert.equal((await app.call('PATCH', path, { token, body: {} })).status, 200);
    const deleted = await app.call('DELETE', path, { token });
    assert.deepEqual([deleted.status, deleted.text], [204, '']);
    for (const method of ['GET', 'DELETE', 'PUT']) {
      const { status, json } = await app.call(method, path, { token, ...(method === 'PUT' && { body }) });
      assert.deepEqual([status, json], [404, { detail: 'Not found.' }], method);
    }
  });

  test('is not written without an account', async () => {
    const id = await app.add();
    for (const [method, path] of [
      ['POST', '/api/quotes/'],
      ['PUT', `/api/quotes/${id}/`],
      ['PATCH', `/api/quotes/${id}/`],
      ['DELETE', `/api/quotes/${id}/`],
    ] as const) {
      const { status, json, headers } = await app.call(method, path, { body });
      assert.deepEqual([status, json], [401, { detail: 'Authentication credentials were not provided.' }]);
      assert.equal(headers.get('www-authenticate'), 'Bearer realm="api"');
    }
  });

  test('is changed by who added it and by staff only', async () => {
    const id = await app.add();
    const path = `/api/quotes/${id}/`;
    for (const method of ['PUT', 'PATCH', 'DELETE']) {
      const { status, json } = await app.call(method, path, { token: app.tokens.bob, body: {} });
      assert.deepEqual(
        [status, json],
        [403, { detail: 'You do not have permission to perform this action.' }],
      );
    }
    const { dora: token } = app.tokens;
    assert.equal((await app.call('PATCH', path, { token, body: { source: '' } })).status, 200);
    assert.equal((await app.call('DELETE', path, { token })).status, 204);
  });

  test('is refused with a sentence for each field', async () => {
    const { alice: token } = app.tokens;
    const add = async (given: unknown) =>
      (await app.call('POST', '/api/quotes/', { token, body: given })).json;
    assert.deepEqual(await add({}), { text: required, author: required, category: required });
    assert.deepEqual(
      await add({ text: ' ', author: null, category: true, attribution: 'rumored', source: 5 }),
      {
        text: ['This field may not be blank.'],
        author: ['This field may not be null.'],
        category: ['Not a valid string.'],
        attribution: ['"rumored" is not a valid choice.'],
      },
    );
    assert.deepEqual(
      await add({ text: 'x'.repeat(2_001), author: '🙂'.repeat(256), category: 'x'.repeat(101) }),
      {
        text: ['Ensure this field has no more than 2000 characters.'],
        author: ['Ensure this field has no more than 255 characters.'],
        category: ['Ensure this field has no more than 100 characters.'],
      },
    );
    const list = await app.call('POST', '/api/quotes/', { token, body: [1] });
    assert.deepEqual(
      [list.status, list.json],
      [400, { non_field_errors: ['Invalid data. Expected a dictionary, but got list.'] }],
    );
    for (const id of ['abc', '0', '99999999', '99999999999999999999']) {
      assert.equal((await app.call('GET', `/api/quotes/${id}/`)).status, 404, id);
    }
  });

  test('comes as a form too, and at an address without the slash', async () => {
    const { alice: token } = app.tokens;
    const form = new URLSearchParams({ text: 'By form.', author: 'A', category: 'Forms', source: '' });
    const created = await app.call('POST', '/api/quotes', { token, body: form });
    assert.deepEqual([created.status, created.json.text, created.json.source], [201, 'By form.', '']);
    const moved = await app.call('GET', '/api/quotes?limit=1');
    assert.deepEqual([moved.status, moved.headers.get('location')], [301, '/api/quotes/?limit=1']);
    assert.equal((await app.call('PATCH', '/api/quotes/', { token })).status, 405);
    const { json } = await app.call('OPTIONS', '/api/quotes/');
    assert.equal(json.name, 'Quote List');
  });

  test('is there once, whatever its case, accents, punctuation and spaces', async () => {
    const id = await app.add({ text: 'Où sont les neiges d’antan?', author: 'François Villon' });
    const again = { text: ' OU SONT les  neiges dantan', author: 'francois villon', category: 'Other' };
    const { alice: token, bob } = app.tokens;
    const twice = await app.call('POST', '/api/quotes/', { token: bob, body: again });
    const sentence = [`This quote is already here: /quotes/${id}/.`];
    assert.deepEqual([twice.status, twice.json], [400, { text: sentence }]);
    const other = await app.add({ ...again, author: 'Somebody else' });
    const changed = await app.call('PATCH', `/api/quotes/${other}/`, {
      token,
      body: { author: 'Francois Villon' },
    });
    assert.deepEqual([changed.status, changed.json], [400, { text: sentence }]);
    const same = await app.call('PATCH', `/api/quotes/${id}/`, {
      token,
      body: { text: 'Où sont les neiges ?' },
    });
    assert.equal(same.status, 200);
  });

  test('is added once by many at once, with one category', async () => {
    const given = { text: 'At once!', author: 'Many', category: 'Brand new' };
    const all = await Promise.all(
      Array.from({ length: 12 }, () =>
        app.call('POST', '/api/quotes/', { token: app.tokens.bob, body: given }),
      ),
    );
    assert.deepEqual(all.map(({ status }) => status).sort(), [201, ...Array(11).fill(400)]);
    const each = await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        app.add({ text: `At once ${index}`, category: 'BRAND newer' }),
      ),
    );
    assert.equal(new Set(each).size, 12);
    const { json } = await app.call('GET', '/api/categories/');
    const names = json.map(({ name }: { name: string }) => name.toLowerCase());
    assert.equal(names.filter((name: string) => name.startsWith('brand new')).length, 2);
  });
});

test('categories are found in any case, and have slugs of their own', async () => {
  await app.add({ category: 'Ça et là' });
  const id = await app.add({ category: 'ÇA ET LÀ' });
  assert.equal((await app.call('GET', `/api/quotes/${id}/`)).json.category, 'Ça et là');
  await app.add({ category: 'Ca et la!' });
  await app.add({ category: '愛' });
  await app.add({ category: '夢' });
  const long = 'Ещё раз о любви и о жизни, о смерти и о том, что после неё бывает';
  for (const category of [long, 'हिन्दी कविता', 'Straße', '!!!']) await app.add({ category });
  const { json, headers } = await app.call('GET', '/api/categories/');
  const slugs = new Map(json.map(({ name, slug }: { name: string; slug: string }) => [name, slug]));
  assert.deepEqual(
    ['Ça et là', 'Ca et la!', '愛', '夢', 'हिन्दी कविता', 'Straße', '!!!'].map((name) => slugs.get(name)),
    ['ca-et-la', 'ca-et-la-2', '愛', '夢', 'हिन्दी-कविता', 'strasse', 'category'],
  );
  assert.equal(slugs.get(long), 'еще-раз-о-любви-и-о-жизни-о-смерти-и-о-том-что-после-нее-быв');
  for (const name of ['愛', long]) {
    const path = `/categories/${encodeURIComponent(slugs.get(name) as string)}/`;
    const page = await app.call('GET', path, { headers: { accept: 'text/html' } });
    assert.equal(page.status, 200, path);
    assert.ok(page.text.includes(name));
  }
  assert.equal(headers.get('x-total-count'), String(json.length));
  assert.deepEqual(Object.keys(json[0]), ['id', 'name', 'slug']);
});

test('the list is in pages by ascending id, of one author or category', async () => {
  const ids: number[] = [];
  for (const name of ['a', 'b', 'c']) {
    ids.push(await app.add({ text: `List ${name}`, author: 'Ada Lovelace', category: 'Lists' }));
  }
  const page = await app.call('GET', '/api/quotes/?author=ada%20LOVELACE&limit=2');
  const idsOf = ({ json }: { json: { id: number }[] }) => json.map(({ id }) => id);
  assert.deepEqual(idsOf(page), ids.slice(0, 2));
  assert.equal(page.headers.get('x-total-count'), '3');
  assert.match(page.headers.get('link') ?? '', /limit=2&offset=2>; rel="next"/);
  assert.deepEqual(
    idsOf(await app.call('GET', '/api/quotes/?category=LISTS&limit=2&offset=2')),
    ids.slice(2),
  );
  assert.deepEqual(idsOf(await app.call('GET', '/api/quotes/?category=lists&author=nobody')), []);
  assert.deepEqual(idsOf(await app.call('GET', '/api/quotes/?category=lists&author=ada%00')), []);
  const all = await app.call('GET', '/api/quotes/?limit=none&offset=-1');
  assert.deepEqual(
    idsOf(all),
    idsOf(all).toSorted((a, b) => a - b),
  );
  assert.equal(all.headers.get('x-total-count'), String(all.json.length));
  const any = await app.call('GET', '/api/quotes/random/');
  assert.ok(idsOf(all).includes(any.json.id));
  assert.equal(any.headers.get('cache-control'), 'no-store');
});

describe('with moderation', () => {
  let moderated: TestQuotes;
  before(async () => {
    moderated = await startQuotes({ environment: { QUOTES_MODERATION: '1' } });
  });
  after(() => moderated[Symbol.asyncDispose]());

  test('a new quote is there for who added it and for staff only', async () => {
    const { alice, bob, dora } = moderated.tokens;
    const id = await moderated.add({ text: 'Waiting zebras.', category: 'Waiting' });
    const statuses = await Promise.all(
      [alice, dora, bob, undefined].map(
        async (token) => (await moderated.call('GET', `/api/quotes/${id}/`, { token })).status,
      ),
    );
    assert.deepEqual(statuses, [200, 200, 404, 404]);
    for (const path of ['/api/quotes/?category=waiting', '/api/quotes/?search=zebras']) {
      assert.deepEqual((await moderated.call('GET', path, { token: alice })).json, []);
    }
    for (const path of ['like/', 'comments/', 'report/']) {
      const options = { token: bob, body: { text: 'x', reason: 'other' } };
      assert.equal((await moderated.call('POST', `/api/quotes/${id}/${path}`, options)).status, 404, path);
    }
    assert.equal((await moderated.call('PATCH', `/api/quotes/${id}/`, { token: bob, body: {} })).status, 404);
    assert.equal(await moderated.metric('quotes_waiting'), 1);
    const own = await moderated.add({ text: 'By staff.', category: 'Waiting' }, dora);
    assert.equal((await moderated.call('GET', `/api/quotes/${own}/`)).status, 200);
  });
});

test('with open editing anybody with an account changes any quote', async () => {
  await using open = await startQuotes({ environment: { QUOTES_OPEN_EDITING: 'on' } });
  const id = await open.add({ text: 'As in a wiki.' });
  const path = `/api/quotes/${id}/`;
  const changed = await open.call('PATCH', path, { token: open.tokens.bob, body: { source: 'Bob' } });
  assert.deepEqual([changed.status, changed.json.source], [200, 'Bob']);
  assert.equal((await open.call('PATCH', path, { body: {} })).status, 401);
  assert.equal((await open.call('DELETE', path, { token: open.tokens.charlie })).status, 204);
});

test('the API document names every entity', async () => {
  const { json } = await app.call('GET', '/openapi.json');
  assert.deepEqual(Object.keys(json.components.schemas).sort(), [
    ...['Category', 'Comment', 'CommentRequest', 'Error', 'Like', 'Nothing', 'PatchedQuoteRequest', 'Quote'],
    ...['QuoteRequest', 'RefreshRequest', 'RegisterRequest', 'Registered', 'Report', 'ReportRequest'],
    ...['TokenPair', 'TokenRequest', 'VerifyRequest'],
  ]);
});
