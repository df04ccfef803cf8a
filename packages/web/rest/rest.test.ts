import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { AppError, notFound, type Static, Type } from '@octavo/core';
import { startTestServer, type TestServer } from '../http/testing.ts';
import { decodeCursor, encodeCursor } from './cursor.ts';
import type { Idempotency } from './idempotency-key.ts';
import { cursorPaging, offsetPaging } from './paging.ts';
import { addList, addResource } from './resource.ts';
import { checkVersion } from './versions.ts';

const Note = Type.Object(
  { id: Type.String(), text: Type.String(), version: Type.Integer() },
  { title: 'Note' },
);
type Note = Static<typeof Note>;
const NoteInput = Type.Object({ text: Type.String({ maxLength: 20 }) }, { title: 'NoteInput' });
const Event = Type.Object({ id: Type.String(), name: Type.String() }, { title: 'Event' });

/** Notes in memory, by id. */
class Notes {
  readonly byId = new Map<string, Note>();
  readonly #results = new Map<string, { digest: string; note: Note }>();

  add(text: string): Note {
    const id = `n${this.byId.size + 1}`;
    return this.put({ id, text, version: 1 });
  }

  put(note: Note): Note {
    this.byId.set(note.id, note);
    return note;
  }

  require(id: string): Note {
    const note = this.byId.get(id);
    if (!note) throw notFound('note', id);
    return note;
  }

  once(idempotency: Idempotency | undefined, work: () => Note): Note {
    if (!idempotency) return work();
    const { key, digest, onReplayed } = idempotency;
    const known = this.#results.get(key);
    if (known && known.digest !== digest) throw new AppError('conflict', 'The key was used.');
    if (known) onReplayed();
    const note = known?.note ?? work();
    this.#results.set(key, { digest, note });
    return note;
  }
}

let server: TestServer;
let notes: Notes;

before(async () => {
  notes = new Notes();
  for (const text of ['one', 'two', 'three', 'four', 'five']) notes.add(text);
  server = await startTestServer((app) => {
    const kind = {
      name: 'Note',
      tag: 'Notes',
      paths: { list: '/notes', item: '/notes/:id' },
      access: 'public',
      schema: Note,
      paging: cursorPaging({ limit: 2, limitMax: 4 }),
      errors: ['rate_limited'],
      callerOf: (_: unknown, idempotency?: Idempotency) => idempotency,
    } as const;
    const pageOf = (
      all: readonly Note[],
      { limit, cursor }: { limit: number; cursor?: string | undefined },
    ) => {
      const [start = 0] = decodeCursor(cursor, ['integer']) as [number?];
      const end = start + limit;
      const next = end < all.length ? encodeCursor([end]) : undefined;
      return { items: all.slice(start, end), total: all.length, next };
    };
    addResource(app, {
      ...kind,
      list: {
        summary: 'All notes',
        description: 'Lists notes.',
        filters: { starts: Type.Optional(Type.String()) },
        run: async (_, query) => {
          const { starts = '' } = query;
          return pageOf(
            [...notes.byId.values()].filter(({ text }) => text.startsWith(starts)),
            query,
          );
        },
      },
      get: { summary: 'A note', run: async (_, id) => notes.require(id) },
      create: {
        summary: 'Add a note',
        body: NoteInput,
        run: async (idempotency, { text }) => notes.once(idempotency, () => notes.add(text)),
      },
      change: {
        summary: 'Change a note',
        body: NoteInput,
        isIdempotent: true,
        run: async (idempotency, id, { text, versions }) => {
          const { version } = notes.require(id);
          return notes.once(idempotency, () => {
            checkVersion(version, versions);
            return notes.put({ id, text, version: version + 1 });
          });
        },
      },
      remove: {
        summary: 'Delete a note',
        query: { quietly: Type.Boolean({ default: false }) },
        run: async (_, id, { versions, quietly }) => {
          checkVersion(notes.require(id).version, versions);
          notes.byId.delete(id);
          return { message: quietly ? '' : 'Note deleted', id };
        },
      },
    });
    addList(app, kind, {
      path: '/notes/:id/others',
      operationId: 'listOtherNotes',
      summary: 'All other notes',
      params: Type.Object({ id: Type.String() }),
      errors: ['not_found'],
      run: async (_, query, { id }) => {
        notes.require(id);
        return pageOf(
          [...notes.byId.values()].filter((note) => note.id !== id),
          query,
        );
      },
    });
    addResource(app, {
      name: 'Event',
      tag: 'Events',
      paths: { list: '/events', item: '/events/:id' },
      access: 'public',
      schema: Event,
      paging: offsetPaging({ limit: 2, limitMax: 3 }),
      callerOf: () => undefined,
      list: {
        summary: 'All events',
        run: async (_, { limit, offset }) => {
          const all = [1, 2, 3, 4, 5].map((number) => ({ id: String(number), name: `e${number}` }));
          return { items: all.slice(offset, offset + limit), total: all.length };
        },
      },
      get: { summary: 'An event', run: async (_, id) => ({ id, name: `e${id}` }) },
      create: {
        summary: 'Queue an event',
        body: Type.Object({ name: Type.String() }),
        status: 202,
        run: async (_, { name }) => ({ id: '6', name }),
      },
      change: {
        summary: 'Rename an event',
        body: Type.Object({ name: Type.String() }),
        run: async (_, id, { name, versions }) => ({ id, name: `${name} ${versions}` }),
      },
    });
  });
});

after(() => server[Symbol.asyncDispose]());

const linksOf = (headers: Headers) =>
  Object.fromEntries(
    Array.from((headers.get('link') ?? '').matchAll(/<([^>]+)>; rel="(\w+)"/g), ([, target, relation]) => [
      relation,
      target,
    ]),
  );

describe('a list by cursor', () => {
  test('has its total and links to the next page and the first', async () => {
    const first = await server.send('/notes');
    assert.deepEqual(textsOf(first.json), ['one', 'two']);
    assert.equal(first.headers.get('x-total-count'), '5');
    assert.deepEqual(Object.keys(linksOf(first.headers)), ['next']);
    const second = await server.send(linksOf(first.headers).next ?? '');
    assert.deepEqual(textsOf(second.json), ['three', 'four']);
    const last = await server.send(linksOf(second.headers).next ?? '');
    assert.deepEqual(textsOf(last.json), ['five']);
    assert.deepEqual(linksOf(last.headers), { first: '/notes' });
  });

  test('keeps the filters in its links', async () => {
    const page = await server.send('/notes?starts=t&limit=1');
    assert.deepEqual([textsOf(page.json), page.headers.get('x-total-count')], [['two'], '2']);
    const next = await server.send(linksOf(page.headers).next ?? '');
    assert.deepEqual(textsOf(next.json), ['three']);
    assert.deepEqual(linksOf(next.headers), { first: '/notes?starts=t&limit=1' });
  });

  test('has no links if it is whole, and cuts a limit that is too large', async () => {
    const whole = await server.send('/notes?starts=f');
    assert.equal(whole.headers.get('link'), null);
    assert.equal(((await server.send('/notes?limit=100')).json as unknown[]).length, 4);
  });

  test('refuses limits and cursors that make no sense', async () => {
    const foreign = encodeCursor(['x']);
    for (const query of ['limit=0', 'limit=x', 'cursor=x', 'cursor=', `cursor=${foreign}`]) {
      const { status, error } = await server.send(`/notes?${query}`);
      assert.deepEqual([status, Object.keys(error.fields)], [400, [query.split('=')[0]]], query);
    }
  });

  test('can belong to something else', async () => {
    const others = await server.send('/notes/n1/others?limit=4');
    assert.deepEqual(textsOf(others.json), ['two', 'three', 'four', 'five']);
    assert.equal((await server.send('/notes/x/others')).status, 404);
  });
});

describe('a list by offset', () => {
  test('links to the first, previous, next and last page', async () => {
    const { json, headers } = await server.send('/events?offset=2');
    assert.deepEqual(idsOf(json), ['3', '4']);
    assert.equal(headers.get('x-total-count'), '5');
    assert.deepEqual(linksOf(headers), {
      first: '/events?offset=0&limit=2',
      prev: '/events?offset=0&limit=2',
      next: '/events?offset=4&limit=2',
      last: '/events?offset=4&limit=2',
    });
  });

  test('leads back from beyond its end, and refuses limits that are too large', async () => {
    const { json, headers } = await server.send('/events?offset=90');
    assert.deepEqual(
      [json, linksOf(headers).prev, linksOf(headers).next],
      [[], '/events?offset=3&limit=2', undefined],
    );
    assert.equal((await server.send('/events?limit=4')).status, 400);
    assert.equal((await server.send('/events?offset=-1')).status, 400);
  });
});

describe('one entity', () => {
  test('has an entity tag, with which it is read only once', async () => {
    const { status, headers } = await server.send('/notes/n1');
    assert.deepEqual([status, headers.get('etag')], [200, '"v1"']);
    for (const known of ['"v1"', 'W/"v1"', '"v0", "v1"', '*']) {
      const again = await server.send('/notes/n1', { headers: { 'if-none-match': known } });
      assert.deepEqual([again.status, again.text, again.headers.get('etag')], [304, '', '"v1"'], known);
    }
    assert.equal((await server.send('/notes/n1', { headers: { 'if-none-match': '"v2"' } })).status, 200);
    const missing = await server.send('/notes/x');
    assert.deepEqual([missing.status, missing.error.code], [404, 'NOT_FOUND']);
  });

  test('has none without a version', async () => {
    const headers = { 'if-none-match': '*' };
    const event = await server.send('/events/1', { headers });
    assert.deepEqual([event.status, event.headers.get('etag')], [200, null]);
  });
});

describe('a creation', () => {
  test('has its address and its tag', async () => {
    const { status, headers, json } = await server.send('/notes', { body: { text: 'new' } });
    const { id } = json as Note;
    assert.deepEqual([status, headers.get('location'), headers.get('etag')], [201, `/notes/${id}`, '"v1"']);
    assert.equal(headers.get('idempotent-replayed'), null);
    notes.byId.delete(id);
    const queued = await server.send('/events', { body: { name: 'x' } });
    assert.deepEqual([queued.status, queued.headers.get('location')], [202, '/events/6']);
    assert.equal((await server.send('/notes', { body: {} })).status, 422);
  });

  test('happens once for an Idempotency-Key', async () => {
    const create = (text: string, key: string) =>
      server.send('/notes', { body: { text }, headers: { 'idempotency-key': key } });
    const first = await create('once', 'key-1');
    const again = await create('once', 'key-1');
    assert.deepEqual(again.json, first.json);
    assert.deepEqual(
      [first, again].map(({ headers }) => headers.get('idempotent-replayed')),
      [null, 'true'],
    );
    assert.equal((await create('other', 'key-1')).status, 409);
    for (const key of ['', 'two words', 'ü', 'x'.repeat(256)]) {
      const { status, error } = await create('once', key);
      assert.deepEqual([status, Object.keys(error.fields)], [400, ['Idempotency-Key']], key);
    }
    notes.byId.delete((first.json as Note).id);
  });
});

describe('a change', () => {
  test('depends on the version, if it names one', async () => {
    const put = (text: string, tag?: string) =>
      server.send('/notes/n2', { method: 'PUT', body: { text }, headers: tag ? { 'if-match': tag } : {} });
    assert.deepEqual([(await put('two', '"v1"')).headers.get('etag')], ['"v2"']);
    const stale = await put('two', '"v1"');
    assert.deepEqual([stale.status, stale.error.code], [412, 'PRECONDITION_FAILED']);
    assert.equal((await put('two', '*')).status, 200);
    assert.equal((await put('two')).status, 200);
    assert.equal((await put('x'.repeat(21))).status, 422);
    const missing = await server.send('/notes/x', { method: 'PUT', body: { text: '' } });
    assert.equal(missing.status, 404);
  });

  test('happens once for an Idempotency-Key, if it takes one', async () => {
    const headers = { 'idempotency-key': 'key-2' };
    const put = () => server.send('/notes/n3', { method: 'PUT', body: { text: 'three' }, headers });
    const [first, again] = [await put(), await put()];
    assert.deepEqual(again.json, first.json);
    assert.equal(again.headers.get('idempotent-replayed'), 'true');
  });

  test('has no condition without a version', async () => {
    const headers = { 'if-match': '"v7"' };
    const { json } = await server.send('/events/1', { method: 'PUT', body: { name: 'x' }, headers });
    assert.deepEqual(json, { id: '1', name: 'x undefined' });
  });
});

test('a deletion depends on the version, and takes parameters', async () => {
  const remove = (path: string, tag: string) =>
    server.send(path, { method: 'DELETE', headers: { 'if-match': tag } });
  const { id } = notes.add('short');
  assert.equal((await remove(`/notes/${id}`, '"v2"')).status, 412);
  const { status, json } = await remove(`/notes/${id}?quietly=true`, '"v1"');
  assert.deepEqual([status, json], [200, { message: '', id }]);
  assert.equal((await remove(`/notes/${id}`, '*')).status, 404);
});

test('the document has every operation with its headers, errors and description', async () => {
  const { json } = await server.send('/openapi.json');
  const { paths } = json as { paths: Record<string, Path> };
  const described = (path: string, method: string) => {
    const {
      operationId,
      description,
      parameters = [],
      responses,
    } = (paths[path] as Path)[method] as Operation;
    const names = parameters.map(({ name }) => name);
    const own = Object.keys(responses).filter((status) =>
      ['201', '304', '404', '409', '412', '429'].includes(status),
    );
    return [operationId, names.join(' '), own.join(' '), description.split('\n')[0]];
  };
  const tagHelp = 'With its `ETag` in `If-Match`, the response is 412 if it was changed since.';
  assert.deepEqual(described('/notes', 'get'), [
    'listNotes',
    'starts limit cursor',
    '429',
    'Lists notes. The `Link` header has the next page, `X-Total-Count` the number of items on all pages.',
  ]);
  assert.deepEqual(described('/notes/{id}', 'get'), [
    'getNote',
    'id',
    '304 404 429',
    'With its `ETag` in `If-None-Match`, the response is 304 until it changes.',
  ]);
  assert.deepEqual(described('/notes', 'post').slice(0, 3), ['createNote', 'idempotency-key', '201 409 429']);
  assert.deepEqual(described('/notes/{id}', 'put'), [
    'updateNote',
    'id if-match idempotency-key',
    '404 412 429',
    tagHelp,
  ]);
  assert.deepEqual(described('/notes/{id}', 'delete'), [
    'deleteNote',
    'quietly id if-match',
    '404 412 429',
    tagHelp,
  ]);
  assert.deepEqual(described('/notes/{id}/others', 'get').slice(0, 3), [
    'listOtherNotes',
    'limit cursor id',
    '404 429',
  ]);
  assert.deepEqual(described('/events/{id}', 'put'), ['updateEvent', 'id', '404', 'Needs no sign-in.']);
  assert.equal(paths['/events/{id}']?.delete, undefined);
});

type Path = Readonly<Record<string, Operation>>;

interface Operation {
  readonly operationId: string;
  readonly description: string;
  readonly parameters?: readonly { readonly name: string }[];
  readonly responses: Readonly<Record<string, unknown>>;
}

function textsOf(json: unknown): string[] {
  return (json as Note[]).map(({ text }) => text);
}

function idsOf(json: unknown): string[] {
  return (json as Note[]).map(({ id }) => id);
}
