import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { FakeClock } from '#kit/clock.ts';
import type { Database, Session } from '#kit/db/index.ts';
import { silentLog } from '#kit/log.ts';
import { testFolder } from '#kit/testing/folder.ts';
import { deletePost, updatePost } from '../changes.ts';
import { openPostDatabase } from '../database.ts';
import { draft, insertDrafts } from '../drafts.ts';
import { fold } from '../fold.ts';
import type { PageRequest } from '../post.ts';
import { readListPage } from '../store-list.ts';
import type { Tables } from '../tables.ts';
import { Indexer } from './indexer.ts';
import { Kept } from './kept.ts';
import { searchIds } from './search.ts';
import { liveSegments, staleIds } from './segments.ts';

const spans = [32, 128, 512] as const;
const never = new AbortController().signal;

const words = [
  'fog',
  'Fog',
  'foggy',
  'ferry',
  'the',
  'There',
  'then',
  'ΟΔΟΣ',
  'οδός',
  '中文',
  '文字',
  '🙂',
  '👩‍💻',
  'e-mail',
  'a',
  '%',
];
const sentence = fc
  .array(fc.tuple(fc.constantFrom(...words), fc.constantFrom(' ', ', ', '.\n', '')), {
    minLength: 1,
    maxLength: 9,
  })
  .map((parts) => parts.flat().join(''))
  .filter((text) => text.trim() !== '');
const newPost = fc.record({ userId: fc.integer({ min: 1, max: 4 }), title: sentence, body: sentence });
const term = fc
  .oneof(
    fc.constantFrom(
      ...words,
      'og',
      'he',
      'fog the',
      'x',
      'gyferry',
      'then, fog',
      'the there',
      '🙂🙂',
      'il fo',
    ),
    sentence,
  )
  .map((text) => fold(text.trim().slice(0, 12)));
const request: fc.Arbitrary<PageRequest> = fc
  .record({
    userId: fc.option(fc.integer({ min: 1, max: 5 }), { nil: undefined }),
    term: fc.option(term, { nil: undefined, freq: 5 }),
    order: fc.constantFrom('id', 'title', 'updated'),
    descending: fc.boolean(),
    offset: fc.oneof(fc.nat(30), fc.nat(1_200)),
    limit: fc.integer({ min: 1, max: 30 }),
  })
  // What is neither filtered nor sorted by text or change is read without the index.
  .filter(
    ({ userId, term, order }) => order !== 'id' || userId !== undefined || term !== undefined,
  ) as fc.Arbitrary<PageRequest>;

type Step =
  | { readonly kind: 'create'; readonly posts: readonly { userId: number; title: string; body: string }[] }
  | { readonly kind: 'update'; readonly at: number; readonly title: string }
  | { readonly kind: 'delete'; readonly at: number }
  | { readonly kind: 'index' };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('create' as const),
      posts: fc.array(newPost, { minLength: 1, maxLength: 90 }),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constant('update' as const), at: fc.nat(), title: sentence }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('delete' as const), at: fc.nat() }) },
  { weight: 4, arbitrary: fc.constant({ kind: 'index' as const }) },
);

test('the index finds what a scan finds, after any changes', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 5, maxLength: 40 }),
      fc.array(request, { minLength: 25, maxLength: 25 }),
      async (steps, requests) => {
        await using place = await openPlace();
        for (const one of steps) await place.take(one);
        const kept = new Kept();
        await place.database.read(async (session) => {
          for (const one of requests) await assertSame(session, kept, one);
        });
      },
    ),
    { numRuns: 25 },
  );
});

test('the index and its searches bear changes meanwhile', async () => {
  await using place = await openPlace();
  const steps = fc.sample(step, { numRuns: 300, seed: 3 });
  const requests = fc.sample(request, { numRuns: 120, seed: 4 });
  const kept = new Kept();
  let writing = true;
  const write = async () => {
    for (const one of steps) if (one.kind !== 'index') await place.take(one);
    writing = false;
  };
  const index = async () => {
    while (writing) await Promise.all([place.indexer.run(never), place.otherIndexer.run(never)]);
  };
  const search = async () => {
    for (const one of requests) await place.database.read((session) => assertSame(session, kept, one));
  };
  await Promise.all([write(), index(), search()]);
  await place.indexer.run(never);
  await place.database.read(async (session) => {
    for (const one of requests) await assertSame(session, new Kept(), one);
    assert.ok((await liveSegments(session)).some(({ span }) => span >= 128));
  });
});

test('small segments become larger ones, and their pages go', async () => {
  await using place = await openPlace();
  await place.take({ kind: 'create', posts: fc.sample(newPost, { numRuns: 511 + 128 + 32 + 31, seed: 1 }) });
  await place.indexer.run(never);
  const segments = await liveSegments(place.database);
  assert.deepEqual(
    segments.map(({ firstId, span }) => [firstId, span]),
    [
      [0, 512],
      [512, 128],
      [640, 32],
    ],
  );
  const rows = await place.database.kysely.selectFrom('search_segment').select('id').execute();
  assert.deepEqual(
    rows.map(({ id }) => id),
    segments.map(({ id }) => id),
  );
  const pages = await place.database.kysely
    .selectFrom('search_page')
    .select('segment_id')
    .distinct()
    .execute();
  assert.deepEqual(new Set(pages.map((page) => page.segment_id)), new Set(segments.map(({ id }) => id)));
});

test('posts that changed are indexed anew once they are many', async () => {
  await using place = await openPlace();
  await place.take({ kind: 'create', posts: fc.sample(newPost, { numRuns: 1_200, seed: 1 }) });
  await place.indexer.run(never);
  for (let at = 0; at < 1_020; at++) await place.take({ kind: 'update', at, title: `changed ${at}` });
  assert.equal((await staleIds(place.database)).length, 1_020);
  await place.indexer.run(never);
  assert.ok((await staleIds(place.database)).length < 600);
  const found = { order: 'title', descending: false, offset: 1_000, limit: 30, term: 'changed' } as const;
  await place.database.read((session) => assertSame(session, new Kept(), found));
});

test('an index that was given up is made by the next, once the lease is over', async () => {
  await using place = await openPlace();
  await place.take({ kind: 'create', posts: fc.sample(newPost, { numRuns: 300, seed: 1 }) });
  await place.database.kysely
    .updateTable('search_lease')
    .set({ holder: 'a process that died', until_ms: place.clock.now() + 15_000 })
    .execute();
  await place.database.kysely
    .insertInto('search_segment')
    .values({ first_id: 0, span: 32, state: 'building' } as never)
    .execute();
  assert.equal(await place.indexer.run(never), false);
  assert.deepEqual(await liveSegments(place.database), []);
  place.clock.advance(15_001);
  assert.equal(await place.indexer.run(never), true);
  assert.equal((await liveSegments(place.database)).length, 3);
  const states = await place.database.kysely
    .selectFrom('search_segment')
    .select('state')
    .distinct()
    .execute();
  assert.deepEqual(states, [{ state: 'live' }]);
});

async function assertSame(session: Session<Tables>, kept: Kept, one: PageRequest): Promise<void> {
  const expected = await readListPage(session, one);
  assert.deepEqual(await searchIds(session, kept, one), {
    ids: expected.posts.map(({ id }) => id),
    total: expected.total,
  });
}

interface Place extends AsyncDisposable {
  readonly database: Database<Tables>;
  readonly indexer: Indexer;
  readonly otherIndexer: Indexer;
  readonly clock: FakeClock;
  take(step: Step): Promise<void>;
}

async function openPlace(): Promise<Place> {
  const place = { url: undefined, folder: testFolder('posts'), log: silentLog };
  const database = await openPostDatabase(place);
  const clock = new FakeClock();
  const indexer = new Indexer(database, clock, spans);
  const ids: number[] = [];
  return {
    database,
    indexer,
    otherIndexer: new Indexer(database, clock, spans),
    clock,
    async take(step) {
      if (step.kind === 'index') await indexer.run(never);
      else if (step.kind === 'create') ids.push(...(await create(database, step.posts, clock.now())));
      else if (ids.length > 0) await change({ database, clock }, ids[step.at % ids.length] as number, step);
      clock.advance(step.kind === 'create' ? 3 : 0);
    },
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  };
}

async function create(
  database: Database<Tables>,
  posts: Parameters<typeof draft>[0],
  nowMs: number,
): Promise<number[]> {
  const drafts = await draft(posts);
  const { lastId } = await database.write((session) => insertDrafts(session, drafts, nowMs));
  return posts.map((_, index) => lastId + index + 1);
}

async function change(
  place: { database: Database<Tables>; clock: FakeClock },
  id: number,
  step: { kind: 'update'; title: string } | { kind: 'delete' },
): Promise<void> {
  const target = { id, allowedRevisions: [], nowMs: place.clock.now() };
  const changed = place.database.write<unknown>((session) =>
    step.kind === 'delete'
      ? deletePost(session, target)
      : updatePost(session, { ...target, change: { title: step.title } }),
  );
  await changed.catch((error) => assert.equal(error.code, 'not_found'));
}
