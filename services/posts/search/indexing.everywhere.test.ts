import assert from 'node:assert/strict';
import { cpSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { silentLog } from '@octavo/core/log';
import { type Database, openDatabase, type WriteSession } from '@octavo/data';
import { normalize } from '@octavo/data/search';
import { PostSort } from '@octavo/protocols/posts/v1/posts';
import { testFolder } from '@octavo/testing';
import fc from 'fast-check';
import { createCorpus } from '../corpus.ts';
import { migrations, openPostDatabase, type Tables } from '../database.ts';
import { deletePost, updatePost } from '../posts/changes.ts';
import { insertPrepared, preparePosts } from '../posts/create.ts';
import type { NewPost, Post } from '../posts/index.ts';
import { createdPost } from '../posts/post.ts';
import { bulkCreate, dropSchema, exported, inTestMode, listing, startPosts } from '../testing/testing.ts';
import type { PageRequest } from './request.ts';
import { readPage } from './store.ts';
import { postText } from './store-filter.ts';

const parts = [
  ...[
    'a',
    'A',
    'é',
    'e\u0301',
    'ß',
    'Σ',
    'ς',
    'İ',
    'ı',
    'Ж',
    'ש',
    'हि',
    'ก',
    '中',
    '文',
    'ガ',
    '가',
    '🙂',
    '👩‍💻',
  ],
  ...['𐐀', '\u{10ffff}', '\ufffd', ' ', '\n', '%', '_', '\\', '"', '-', '0', 'the ', 'There', 'fog', 'foggy'],
];
const text = fc
  .string({ unit: fc.constantFrom(...parts), minLength: 1, maxLength: 14 })
  .filter((one) => one.trim() !== '');
const newPost = fc.record({ userId: fc.integer({ min: 1, max: 4 }), title: text, body: text });

type Step =
  | { readonly kind: 'create'; readonly posts: readonly NewPost[] }
  | { readonly kind: 'update'; readonly at: number; readonly title: string }
  | { readonly kind: 'delete'; readonly at: number }
  | { readonly kind: 'index'; readonly rows: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    kind: fc.constant('create' as const),
    posts: fc.array(newPost, { minLength: 1, maxLength: 60 }),
  }),
  fc.record({ kind: fc.constant('update' as const), at: fc.nat(), title: text }),
  fc.record({ kind: fc.constant('delete' as const), at: fc.nat() }),
  fc.record({ kind: fc.constant('index' as const), rows: fc.integer({ min: 1, max: 120 }) }),
);

/** `at` and `length` say where in the texts the needle is taken from; without a length there is none. */
const search = fc.record({
  userId: fc.option(fc.integer({ min: 1, max: 5 }), { nil: undefined }),
  at: fc.nat(),
  length: fc.nat(7),
  order: fc.constantFrom('id' as const, 'title' as const, 'updated' as const),
  descending: fc.boolean(),
  offset: fc.oneof(fc.nat(30), fc.nat(400)),
  limit: fc.integer({ min: 1, max: 30 }),
});

await inTestMode((world) => {
  test('any page of any search is what a scan of all posts gives, whatever is indexed', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 4, maxLength: 24 }),
        fc.array(search, { minLength: 30, maxLength: 30 }),
        async (steps, searches) => {
          if (world.databaseUrl) await dropSchema(world.databaseUrl);
          await using database = await openPostDatabase(place(world.databaseUrl));
          const posts = await takeAll(database, steps);
          for (const one of searches) await assertSame(database, posts, toRequest(one, posts));
        },
      ),
      { numRuns: world.databaseUrl ? 5 : 15 },
    );
  });

  test('data of the time before this index is found, before and after it is indexed', async (context) => {
    if (world.databaseUrl) await dropSchema(world.databaseUrl);
    const folder = testFolder('posts');
    await fillOldLayout(world.databaseUrl, folder);
    const { client, open } = await startPosts(context, world, folder);
    const check = async () => {
      const request = listing({ filter: { search: 'NEEDLE' }, sort: PostSort.POST_SORT_TITLE });
      const { posts, total } = await client.listPosts(request);
      assert.equal(total, 150);
      assert.deepEqual(
        posts.map(({ title }) => title),
        (await exported(client, { search: 'needle' }))
          .map(({ title }) => title)
          .sort()
          .reverse()
          .slice(0, 20),
      );
    };
    await check();
    await using database = await open();
    await untilIndexed(database, check);
    await check();
    assert.deepEqual((await client.listPosts(listing({ filter: { search: 'é' } }))).total, 500);
    await client.deletePost({ id: 7, ifRevisions: [] });
    const sentiments = await database.kysely.selectFrom('post_sentiment').select('post_id').execute();
    assert.deepEqual(sentiments, [{ post_id: 8 }]);
  });

  test('pages among very many matches are the same', async () => {
    if (world.databaseUrl) await dropSchema(world.databaseUrl);
    await using database = await openPostDatabase(place(world.databaseUrl));
    const corpus = createCorpus({ seed: 3, size: 24_000, users: 2 });
    const all = Array.from({ length: corpus.size }, (_, index) => ({
      userId: index % 50 === 0 ? 2 : 1,
      title: corpus.at(index).title,
      body: `${index % 100} fog`,
    }));
    const posts = await create(database, all);
    while (await postText.hasPending(database, 2_000)) {
      await database.write((session) => postText.indexPending(session, 1_000));
    }
    for (const order of ['id', 'title', 'updated'] as const) {
      for (const needle of ['fog', '7 f', 'o', '77 fog']) {
        for (const userId of [undefined, 1, 2]) {
          const filter = { needle, ...(userId ? { userId } : {}) };
          const request = { ...filter, order, descending: true, offset: 40, limit: 20 };
          await assertSame(database, posts, request);
        }
      }
    }
  });
});

test('posts are found before, while and after they are indexed', async (context) => {
  const { client, open } = await startPosts(context, { databaseUrl: undefined, remote: false });
  const rows = Array.from({ length: 5_000 }, (_, index) => ({
    userId: 1 + (index % 3),
    title: `Title ${(index * 7_919) % 5_000}`,
    body: index % 10 === 0 ? 'Tenth, with a needle-in-hay' : 'Others',
  }));
  await using database = await open();
  const check = async () => {
    const filter = { search: 'needle-IN-hay', userId: 2 };
    const expected = (await exported(client, filter)).map(({ title }) => title).sort();
    for (const page of [1, 3]) {
      const request = listing({ filter, sort: PostSort.POST_SORT_TITLE, descending: false, page });
      const { posts, total } = await client.listPosts(request);
      assert.equal(total, expected.length);
      assert.deepEqual(
        posts.map(({ title }) => title),
        expected.slice(20 * (page - 1), 20 * page),
      );
    }
  };
  for (let start = 0; start < 5_000; start += 1_000) {
    await bulkCreate(client, rows.slice(start, start + 1_000));
    await check();
  }
  await untilIndexed(database, check);
  await client.updatePost({ id: 11, title: 'A new title', ifRevisions: [] });
  await client.deletePost({ id: 41, ifRevisions: [] });
  await check();
});

function place(url: string | undefined) {
  return { url, folder: testFolder('posts'), log: silentLog };
}

async function untilIndexed(database: Database<Tables>, check: () => Promise<void>): Promise<void> {
  while (await postText.hasPending(database)) {
    await check();
    await delay(10);
  }
}

async function takeAll(database: Database<Tables>, steps: readonly Step[]): Promise<Post[]> {
  const posts = new Map<number, Post>();
  for (const one of steps) {
    const target = [...posts.keys()][
      one.kind === 'update' || one.kind === 'delete' ? one.at % (posts.size || 1) : 0
    ];
    if (one.kind === 'create') {
      for (const post of await create(database, one.posts)) posts.set(post.id, post);
    } else if (one.kind === 'index') {
      await database.write((session) => postText.indexPending(session, one.rows));
    } else if (target !== undefined) {
      const change = { id: target, allowedRevisions: [], nowMs: 5_000 + one.at };
      if (one.kind === 'delete') {
        await database.write((session) => deletePost(session, { ...change, isKept: false }));
        posts.delete(target);
      } else {
        const updated = await database.write((session) =>
          updatePost(session, { ...change, change: { title: one.title } }),
        );
        posts.set(target, updated);
      }
    }
  }
  return [...posts.values()];
}

async function create(database: Database<Tables>, posts: readonly NewPost[]): Promise<Post[]> {
  const nowMs = 1_000;
  const insert = async (session: WriteSession<Tables>) =>
    insertPrepared(session, await preparePosts(posts), { nowMs, announcements: [] });
  const { lastId } = await database.write(insert);
  return posts.map((post, index) => createdPost(post, lastId + index + 1, nowMs));
}

function toRequest(
  { userId, at, length, ...page }: typeof search extends fc.Arbitrary<infer S> ? S : never,
  posts: readonly Post[],
): PageRequest {
  const source = posts[at % (posts.length || 1)];
  const characters = Array.from((at % 2 ? source?.title : source?.body) ?? 'x');
  const start = at % characters.length;
  const needle = normalize(characters.slice(start, start + length).join(''));
  return { ...page, ...(userId ? { userId } : {}), ...(needle === '' ? {} : { needle }) };
}

async function assertSame(
  database: Database<Tables>,
  posts: readonly Post[],
  request: PageRequest,
): Promise<void> {
  const { userId, needle = '', order, descending, offset, limit } = request;
  const has = (field: string) => normalize(field).includes(needle);
  const keys = {
    id: () => 0,
    title: (a: Post, b: Post) => Buffer.compare(Buffer.from(a.title), Buffer.from(b.title)),
    updated: (a: Post, b: Post) => a.updatedAtMs - b.updatedAtMs,
  };
  const matching = posts
    .filter((post) => userId === undefined || post.userId === userId)
    .filter(({ title, body }) => has(title) || has(body))
    .sort((a, b) => (keys[order](a, b) || a.id - b.id) * (descending ? -1 : 1));
  const page = await database.read((session) => readPage(session, request));
  const message = JSON.stringify(request);
  assert.equal(page.total, matching.length, message);
  assert.deepEqual(page.posts, matching.slice(offset, offset + limit), message);
}

/** A database as version 0.1.0 left it, with 1,500 posts, an index by hand and a sentiment whose post is gone. */
async function fillOldLayout(url: string | undefined, folder: string): Promise<void> {
  const old = join(testFolder('migrations'), 'old');
  mkdirSync(old);
  for (const name of readdirSync(migrations).filter((file) => /^000[123]_/.test(file))) {
    cpSync(new URL(name, migrations), join(old, name));
  }
  const options = { name: 'posts', url, folder, migrations: pathToFileURL(`${old}/`), log: silentLog };
  await using database = await openDatabase<Tables>(options);
  const posts = Array.from({ length: 1_500 }, (_, index) => ({
    userId: 1,
    title: `Old ${(index * 7_919) % 1_500}`,
    body: `${index % 10 === 0 ? 'a needle' : 'hay'} ${index % 3 === 0 ? 'É' : ''}`,
  }));
  await create(database, posts);
  await database.write(async ({ kysely }) => {
    const scores = { revision: 1, label: 'neutral' as const, negative: 0, neutral: 1, positive: 0 };
    for (const post_id of [7, 8, 9_999]) {
      await kysely
        .insertInto('post_sentiment')
        .values({ post_id, ...scores, model: 'octavo-1', classified_at_ms: 1 })
        .execute();
    }
  });
}
