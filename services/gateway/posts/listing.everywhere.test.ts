import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { startTestSystem } from '@octavo/octavo/testing';
import type { TestResponse } from '@octavo/testing';
import { until } from '@octavo/testing';
import fc from 'fast-check';
import { assertError, castOf } from '../testing.ts';
import type { Post } from './post.ts';

const titles = [
  'Fog',
  'fig',
  'Ärger',
  'Zebra',
  'zebra',
  '😀 smile',
  '\uff21 wide',
  'Fog',
  '100% fog_*\\',
  'ΣΊΣΥΦΟΣ',
];

const system = await startTestSystem();
after(() => system[Symbol.asyncDispose]());
const cast = await castOf(system);
const posts: Post[] = [];
for (const [index, title] of titles.entries()) {
  posts.push(await cast.alice.create({ title, body: `body ${index}`, userId: 1 + (index % 3) }));
}

function list(query = ''): Promise<TestResponse> {
  return cast.charlie.get(`/posts${query}`);
}

function idsOf({ json }: TestResponse): number[] {
  return json.data.map(({ id }: Post) => id);
}

describe('a list', () => {
  test('is newest first, with pagination', async () => {
    const response = await list();
    assert.equal(response.status, 200);
    assert.deepEqual(Object.keys(response.json), ['data', 'pagination', 'meta']);
    assert.deepEqual(response.json.data, posts.toReversed());
    assert.deepEqual(response.json.pagination, {
      page: 1,
      pageSize: 20,
      totalItems: 10,
      totalPages: 1,
      hasNext: false,
      hasPrev: false,
    });
    const { requestId, timestamp, duration, ...rest } = response.json.meta;
    assert.deepEqual(rest, {});
    assert.equal(requestId, response.headers.get('x-request-id'));
    assert.match(timestamp, /Z$/);
    assert.ok(Number.isInteger(duration) && duration > 0);
  });

  test('sorts by each field, ties by id in the same direction', async () => {
    const byCodePoint = (one: string, other: string) => Buffer.compare(Buffer.from(one), Buffer.from(other));
    const orders: Record<string, (one: Post, other: Post) => number> = {
      id: (one, other) => one.id - other.id,
      title: (one, other) => byCodePoint(one.title, other.title) || one.id - other.id,
      createdAt: (one, other) => byCodePoint(one.createdAt, other.createdAt) || one.id - other.id,
      updatedAt: (one, other) => byCodePoint(one.updatedAt, other.updatedAt) || one.id - other.id,
    };
    for (const [sortBy, order] of Object.entries(orders)) {
      const sorted = posts.toSorted(order).map(({ id }) => id);
      assert.deepEqual(idsOf(await list(`?sortBy=${sortBy}&sortOrder=asc`)), sorted, sortBy);
      assert.deepEqual(idsOf(await list(`?sortBy=${sortBy}&sortOrder=desc`)), sorted.reverse(), sortBy);
    }
    assert.deepEqual(idsOf(await list('?sortBy=title')), idsOf(await list('?sortBy=title&sortOrder=desc')));
  });

  test('of one user has only the posts of that user', async () => {
    const response = await list('?userId=2');
    assert.deepEqual(
      idsOf(response),
      posts
        .filter(({ userId }) => userId === 2)
        .map(({ id }) => id)
        .reverse(),
    );
    assert.equal(response.json.pagination.totalItems, 3);
    assert.equal((await list('?userId=77')).json.pagination.totalItems, 0);
  });

  test('searches title and body, literally and in any case', async () => {
    const cases: [string, number[]][] = [
      ['FOG', [0, 7, 8]],
      ['g_*\\', [8]],
      ['%', [8]],
      ['_', [8]],
      ['BODY 3', [3]],
      ['ärger', [2]],
      ['A\u0308rger', [2]],
      ['😀', [5]],
      ['σίσυφοσ', [9]],
      ["' OR 1=1 --", []],
      ['%%%', []],
    ];
    for (const [search, indexes] of cases) {
      const found = idsOf(await list(`?search=${encodeURIComponent(search)}`));
      assert.deepEqual(found, indexes.map((index) => posts[index]?.id).reverse(), search);
    }
    assert.equal((await list('?search=')).json.pagination.totalItems, 10);
    assert.equal((await list('?search=%20%09')).json.pagination.totalItems, 10);
    assert.equal((await list(`?search=${encodeURIComponent('  fog ')}`)).json.pagination.totalItems, 3);
    assert.equal((await list('?search=fog&userId=2')).json.pagination.totalItems, 1);
  });

  test('without matches is empty', async () => {
    const response = await list('?userId=77&page=3');
    assert.deepEqual(response.json.data, []);
    assert.deepEqual(response.json.pagination, {
      page: 3,
      pageSize: 20,
      totalItems: 0,
      totalPages: 0,
      hasNext: false,
      hasPrev: false,
    });
    assert.equal(response.headers.get('link'), null);
  });
});

describe('pages', () => {
  test('link to each other', async () => {
    const { pagination } = (await list('?pageSize=3&page=2&sortBy=title&search=o')).json;
    assert.equal(pagination.totalItems, 10);
    const response = await list('?pageSize=3&page=2&sortBy=title&search=o');
    assert.deepEqual(linksOf(response), {
      first: '/api/v1/posts?search=o&sortBy=title&sortOrder=desc&page=1&pageSize=3',
      prev: '/api/v1/posts?search=o&sortBy=title&sortOrder=desc&page=1&pageSize=3',
      next: '/api/v1/posts?search=o&sortBy=title&sortOrder=desc&page=3&pageSize=3',
      last: '/api/v1/posts?search=o&sortBy=title&sortOrder=desc&page=4&pageSize=3',
    });
    assert.deepEqual(pagination, {
      page: 2,
      pageSize: 3,
      totalItems: 10,
      totalPages: 4,
      hasNext: true,
      hasPrev: true,
    });
    assert.deepEqual(Object.keys(linksOf(await list('?pageSize=3'))), ['first', 'next', 'last']);
    assert.deepEqual(Object.keys(linksOf(await list('?pageSize=3&page=4'))), ['first', 'prev', 'last']);
  });

  test('past the end are empty', async () => {
    for (const page of [2, 10_000, Number.MAX_SAFE_INTEGER]) {
      const response = await list(`?page=${page}`);
      assert.equal(response.status, 200);
      assert.deepEqual(response.json.data, []);
      assert.deepEqual(response.json.pagination, {
        page,
        pageSize: 20,
        totalItems: 10,
        totalPages: 1,
        hasNext: false,
        hasPrev: true,
      });
      const last = '/api/v1/posts?sortBy=id&sortOrder=desc&page=1&pageSize=20';
      assert.deepEqual([linksOf(response).prev, linksOf(response).last], [last, last]);
    }
  });

  test('are linked without a search that would make the header too long', async () => {
    const { headers } = await list(`?userId=7&search=${encodeURIComponent('𝕏'.repeat(256))}`);
    assert.equal(headers.get('link'), null);
    await cast.alice.create({ title: '𝕏'.repeat(256), userId: 77 });
    const long = await list(`?userId=77&search=${encodeURIComponent('𝕏'.repeat(256))}`);
    assert.equal(long.json.pagination.totalItems, 1);
    assert.ok((long.headers.get('link') ?? '').length < 1_000);
    assert.equal(linksOf(long).last, '/api/v1/posts?userId=77&sortBy=id&sortOrder=desc&page=1&pageSize=20');
    const short = await list(`?userId=77&search=${encodeURIComponent('𝕏')}`);
    assert.match(linksOf(short).last ?? '', /&search=%F0%9D%95%8F&/);
    await cast.bob.delete(`/posts/${long.json.data[0].id}`, { 'x-mfa-verified': 'true' });
  });

  test('hold at most 100', async () => {
    for (const pageSize of ['101', '1000', '9007199254740991', '9007199254740992', '9'.repeat(40)]) {
      assert.equal((await list(`?pageSize=${pageSize}`)).json.pagination.pageSize, 100, pageSize);
    }
    assert.equal((await list('?pageSize=1')).json.data.length, 1);
  });

  test('contain each post exactly once', async () => {
    const queries = fc.record({
      pageSize: fc.integer({ min: 1, max: 11 }),
      sortBy: fc.constantFrom('id', 'title', 'createdAt', 'updatedAt'),
      sortOrder: fc.constantFrom('asc', 'desc'),
      filter: fc.constantFrom('', '&userId=1', '&search=o', '&search=fog'),
    });
    await fc.assert(
      fc.asyncProperty(queries, async ({ pageSize, sortBy, sortOrder, filter }) => {
        const all = idsOf(await list(`?pageSize=100&sortBy=${sortBy}&sortOrder=${sortOrder}${filter}`));
        const seen = [];
        let path: string | undefined =
          `?pageSize=${pageSize}&sortBy=${sortBy}&sortOrder=${sortOrder}${filter}`;
        while (path !== undefined) {
          const response: TestResponse = await list(path);
          seen.push(...idsOf(response));
          path = linksOf(response).next?.replace('/api/v1/posts', '');
        }
        assert.deepEqual(seen, all);
      }),
      { numRuns: 25 },
    );
  });
});

test('an invalid parameter is named', async () => {
  const cases: [string, string][] = [
    ['page=0', 'page'],
    ['page=-1', 'page'],
    ['page=1.5', 'page'],
    ['page=x', 'page'],
    ['page=', 'page'],
    ['page=1e2', 'page'],
    ['page=9007199254740992', 'page'],
    ['page=1&page=2', 'page'],
    ['pageSize=0', 'pageSize'],
    ['pageSize=-5', 'pageSize'],
    ['pageSize=ten', 'pageSize'],
    ['pageSize=5&pageSize=5', 'pageSize'],
    ['sortBy=body', 'sortBy'],
    ['sortBy=ID', 'sortBy'],
    ['sortBy=id;DROP TABLE posts', 'sortBy'],
    ['sortOrder=up', 'sortOrder'],
    ['sortOrder=', 'sortOrder'],
    ['userId=x', 'userId'],
    ['userId=0', 'userId'],
    ['userId=1&userId=2', 'userId'],
    [`search=${'a'.repeat(257)}`, 'search'],
    ['search=a%00b', 'search'],
    ['search=a&search=b', 'search'],
    ['search=%ff', 'search'],
    ['search=100%', 'search'],
  ];
  for (const [query, name] of cases) {
    assert.deepEqual(Object.keys(assertError(await list(`?${query}`), 400, 'INVALID_INPUT')), [name], query);
  }
  assert.equal((await list(`?search=${encodeURIComponent('😀'.repeat(256))}`)).status, 200);
  assert.equal((await list('?unknown=1&__proto__=2')).status, 200);
});

function linksOf({ headers }: TestResponse): Record<string, string> {
  const links = (headers.get('link') ?? '').matchAll(/<([^>]+)>; rel="(\w+)"/g);
  return Object.fromEntries([...links].map(([, target, relation]) => [relation, target]));
}

describe('a filter by time and sentiment', () => {
  const createdAt = (index: number) => posts[index]?.createdAt ?? '';

  test('finds posts from a time on, and before another', async () => {
    const query = `?createdFrom=${createdAt(2)}&createdBefore=${createdAt(7)}&sortOrder=asc`;
    const expected = posts
      .filter((post) => post.createdAt >= createdAt(2) && post.createdAt < createdAt(7))
      .map(({ id }) => id);
    assert.deepEqual(idsOf(await list(query)), expected);
    const exported = (await cast.charlie.get(`/posts/export${query.replace('&sortOrder=asc', '')}`)).json;
    assert.deepEqual(
      exported.map(({ id }: Post) => id),
      expected,
    );
    const sameInstant = createdAt(2).replace('Z', '%2B00:00');
    assert.equal(
      (await list(`?createdFrom=${sameInstant}`)).json.data.length,
      (await list(`?createdFrom=${createdAt(2)}`)).json.data.length,
    );
  });

  test('finds posts by their sentiment, and links to the next page of them', async () => {
    const word = `mood${Date.now()}`;
    for (const body of [
      'I love this, what a great day',
      'I hate this, it is terrible and sad',
      'Love it, great',
    ]) {
      await cast.alice.create({ title: word, body });
    }
    const find = (sentiment: string) => list(`?search=${word}&sentiment=${sentiment}&pageSize=1`);
    const positive = await until(async () => {
      const response = await find('positive');
      return response.json.pagination.totalItems === 2 && response;
    });
    assert.match(positive.headers.get('link') ?? '', /sentiment=positive[^>]*page=2[^>]*>; rel="next"/);
    const negative = await until(async () => {
      const response = await find('negative');
      return response.json.data.length === 1 && response;
    });
    assert.match(negative.json.data[0].body, /hate/);
  });

  test('names what is invalid', async () => {
    for (const [query, name] of [
      ['createdFrom=2026-01-31', 'createdFrom'],
      ['createdBefore=yesterday', 'createdBefore'],
      ['sentiment=happy', 'sentiment'],
      ['sentiment=', 'sentiment'],
    ] as const) {
      assert.deepEqual(
        Object.keys(assertError(await list(`?${query}`), 400, 'INVALID_INPUT')),
        [name],
        query,
      );
      assertError(await cast.charlie.get(`/posts/export?${query}`), 400, 'INVALID_INPUT');
    }
  });

  test('by sentiment needs the integration that classifies', async () => {
    await using off = await startTestSystem({ INFERENCE: 'off' });
    const { charlie } = await castOf(off);
    for (const path of ['/posts', '/posts/export']) {
      const response = await charlie.get(`${path}?sentiment=neutral`);
      assert.deepEqual(assertError(response, 503, 'INTEGRATION_DISABLED'), {
        integration: 'inferenceServer',
      });
    }
  });
});
