import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Database } from '@octavo/data';
import { startTestServer } from '@octavo/web/testing';
import { drfErrors } from './errors.ts';
import { boolean, dateTime, text } from './fields.ts';
import { addDrfResource } from './resource.ts';
import { useDrf } from './scope.ts';

interface Book {
  readonly id: number;
  readonly title: string;
  readonly added: string;
  readonly is_lent: number;
}

const books: readonly Book[] = [
  { id: 1, title: 'Fog', added: '2026-01-31T12:00:00.000000Z', is_lent: 1 },
  { id: 2, title: 'Ferries', added: '2026-01-31T12:00:00.250000Z', is_lent: 0 },
];
const refuse = () => Promise.reject(new Error('this test only reads'));

const server = await startTestServer((app) => {
  app.register(async (scope) => {
    const { schema, show } = addDrfResource(
      { app: scope, drf: useDrf(scope), database: {} as Database<{ book: Book }> },
      {
        name: 'book',
        table: 'book',
        collection: '/books/',
        item: '/books/:id/',
        access: { read: 'public', add: 'public', change: 'public', delete: 'public' },
        fields: { title: text(), added: dateTime(), is_lent: boolean() },
        list: async (_, { limit, offset }) => ({
          items: books.slice(offset, offset + limit),
          total: books.length,
        }),
        find: async (id) => books.find((book) => book.id === id),
        insert: refuse,
        update: refuse,
        delete: refuse,
      },
    );
    scope.get('/newest-book/', { access: 'public', schema: { response: { 200: schema } } }, async (request) =>
      show(books[1] as Book, request),
    );
  });
}, drfErrors);
after(() => server[Symbol.asyncDispose]());

const shown = [
  { id: 1, title: 'Fog', added: '2026-01-31T12:00:00Z', is_lent: true },
  { id: 2, title: 'Ferries', added: '2026-01-31T12:00:00.250000Z', is_lent: false },
];

test('a resource lists and shows rows by its fields', async () => {
  const list = await server.send('/books/?limit=1&offset=1');
  assert.deepEqual([list.json, list.headers.get('x-total-count')], [[shown[1]], '2']);
  assert.equal(list.headers.get('link'), '</books/?limit=1&offset=0>; rel="prev"');
  const first = await server.send('/books/?limit=1');
  assert.equal(first.headers.get('link'), '</books/?limit=1&offset=1>; rel="next"');
  assert.deepEqual((await server.send('/books/1/')).json, shown[0]);
  assert.equal((await server.send('/books/3/')).status, 404);
});

test('another route of the same rows uses its schema and its view', async () => {
  assert.deepEqual((await server.send('/newest-book/')).json, shown[1]);
  const { json } = await server.send('/openapi.json');
  const { paths } = json as { paths: Record<string, { get: { responses: { 200: { content: unknown } } } }> };
  const { content } = paths['/newest-book/']?.get.responses[200] ?? {};
  assert.deepEqual(content, paths['/books/{id}/']?.get.responses[200].content);
  assert.match(JSON.stringify(content), /#\/components\/schemas\/Book"/);
});
