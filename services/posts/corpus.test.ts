import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createCorpus, seedPosts } from './corpus.ts';
import { problemsOf } from './posts/index.ts';
import { exported, inTestMode, listing, startPosts } from './testing/testing.ts';

const corpus = createCorpus({ seed: 1, size: 5_000, users: 12 });
const posts = Array.from({ length: corpus.size }, (_, index) => corpus.at(index));

test('the corpus is the same for the same seed, in whatever order it is read', () => {
  const again = createCorpus({ seed: 1, size: 5_000, users: 12 });
  for (const index of [4_999, 0, 77]) assert.deepEqual(again.at(index), posts[index]);
  assert.notDeepEqual(createCorpus({ seed: 2, size: 5_000, users: 12 }).at(0), posts[0]);
});

test('the corpus has valid posts of all users, with rising times', () => {
  for (const post of posts) assert.equal(problemsOf(post), undefined, JSON.stringify(post));
  assert.equal(new Set(posts.map(({ userId }) => userId)).size, 12);
  for (const [index, post] of posts.entries()) {
    assert.ok(index === 0 || post.createdAtMs >= (posts[index - 1]?.createdAtMs ?? 0));
  }
});

test('the corpus has the scripts, the emoji and the lengths of real posts', () => {
  const text = posts.map(({ title, body }) => title + body).join('');
  const scripts = [
    'Latin',
    'Greek',
    'Cyrillic',
    'Arabic',
    'Hebrew',
    'Devanagari',
    'Bengali',
    'Tamil',
    'Thai',
    'Han',
    'Hiragana',
    'Hangul',
    'Georgian',
    'Armenian',
    'Ethiopic',
  ];
  for (const script of scripts) assert.match(text, new RegExp(`\\p{Script=${script}}`, 'u'), script);
  assert.match(text, /\p{RGI_Emoji_ZWJ_Sequence}/v);
  assert.match(text, /\p{RGI_Emoji_Flag_Sequence}/v);
  const lengths = posts.map(({ body }) => body.length).sort((a, b) => a - b);
  assert.ok((lengths[2_500] as number) > 60 && (lengths[2_500] as number) < 400);
  assert.ok((lengths.at(-1) as number) > 3_000);
});

await inTestMode((world) => {
  test('a seeded service has the posts of the corpus', async (context) => {
    const { client } = await startPosts(context, world);
    const counts: number[] = [];
    const corpus = createCorpus({ seed: 1, size: 1_500, users: 3 });
    const added = await seedPosts(client, corpus, { onProgress: (count) => counts.push(count) });
    assert.deepEqual(counts, [1_000, 1_500]);
    assert.equal(added, 1_500);
    const stored = await exported(client);
    assert.equal(stored.length, 1_500);
    assert.equal(await seedPosts(client, corpus), 0);
    assert.equal((await exported(client)).length, 1_500, 'twice is the same as once');
    const other = createCorpus({ seed: 2, size: 3, users: 3 });
    assert.equal(await seedPosts(client, other), undefined, 'beside other posts only on demand');
    assert.equal(await seedPosts(client, other, { isForced: true }), 3);
    assert.equal(
      (await client.listPosts(listing({ filter: { search: 'ISTANBUL' } }))).total,
      stored.filter(({ title, body }) => `${title}|${body}`.includes('İstanbul')).length,
    );
  });
});
