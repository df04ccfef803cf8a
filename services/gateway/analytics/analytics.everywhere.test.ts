import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { startTestSystem } from '@octavo/octavo/testing';
import { castOf, signedIn } from '../testing.ts';

const system = await startTestSystem();
after(() => system[Symbol.asyncDispose]());
const cast = await castOf(system);
const charlie = await signedIn(system, 'charlie');

describe('the analysis', () => {
  test('without posts is zeros', async () => {
    const response = await cast.charlie.get('/posts/analytics');
    assert.equal(response.status, 200);
    assert.deepEqual(Object.keys(response.json), ['data', 'meta']);
    assert.deepEqual(Object.keys(response.json.meta), ['requestId', 'timestamp', 'duration']);
    assert.ok(Number.isInteger(response.json.meta.duration) && response.json.meta.duration > 0);
    assert.deepEqual(response.json.data, {
      totalPosts: 0,
      totalCharacters: 0,
      uniqueChars: 0,
      topCharacters: [],
      statistics: {
        averagePostLength: 0,
        medianPostLength: 0,
        postsPerUser: {},
        timeDistribution: { night: 0, morning: 0, afternoon: 0, evening: 0 },
      },
    });
  });

  test('counts code points of title and body', async () => {
    const first = await cast.alice.create({ title: 'aA', body: 'a 😀', userId: 3 });
    await cast.alice.create({ title: '😀', body: '😀a', userId: 3 });
    await cast.alice.create({ title: 'b', body: 'é', userId: Number.MAX_SAFE_INTEGER });
    const { data } = (await cast.charlie.get('/posts/analytics')).json;
    const { statistics, topCharacters, ...totals } = data;
    assert.deepEqual(totals, { totalPosts: 3, totalCharacters: 10, uniqueChars: 6 });
    assert.deepEqual(topCharacters, [
      { character: 'a', count: 3, frequency: 30 },
      { character: '😀', count: 3, frequency: 30 },
      { character: ' ', count: 1, frequency: 10 },
      { character: 'A', count: 1, frequency: 10 },
      { character: 'b', count: 1, frequency: 10 },
      { character: 'é', count: 1, frequency: 10 },
    ]);
    const { timeDistribution, ...rest } = statistics;
    assert.deepEqual(rest, {
      averagePostLength: 10 / 3,
      medianPostLength: 3,
      postsPerUser: { '3': 2, [Number.MAX_SAFE_INTEGER]: 1 },
    });
    assert.deepEqual(Object.keys(timeDistribution), ['night', 'morning', 'afternoon', 'evening']);
    const hour = new Date(first.createdAt).getUTCHours();
    const name = ['night', 'morning', 'afternoon', 'evening'][Math.floor(hour / 6)] as string;
    assert.ok(timeDistribution[name] >= 1);
  });

  test('by day has every day of the span, today last', async () => {
    const today = new Date().toISOString().slice(0, 10);
    const { data, meta } = (await cast.charlie.get('/posts/analytics/daily?days=3')).json;
    assert.deepEqual(Object.keys(meta), ['requestId', 'timestamp', 'duration']);
    assert.equal(data.days.length, 3);
    assert.deepEqual(Object.keys(data.days[0]), ['date', 'posts', 'positive', 'neutral', 'negative']);
    const { totalPosts } = (await cast.charlie.get('/posts/analytics')).json.data;
    const counted = data.days.reduce((sum: number, { posts }: { posts: number }) => sum + posts, 0);
    assert.equal(counted, totalPosts);
    assert.ok(data.days[2].date >= today);
    assert.equal((await cast.charlie.get('/posts/analytics/daily')).json.data.days.length, 30);
    for (const days of ['0', '367', '1.5', 'all', ''])
      assert.equal((await cast.charlie.get(`/posts/analytics/daily?days=${days}`)).status, 400, days);
  });

  test('changes with every post', async () => {
    const { id } = await cast.alice.create({ title: 'x', body: 'xx', userId: 4 });
    await cast.alice.put(`/posts/${id}`, { body: 'xxxx' });
    const before = (await cast.charlie.get('/posts/analytics')).json.data;
    await cast.bob.delete(`/posts/${id}`);
    const { data } = (await cast.charlie.get('/posts/analytics')).json;
    assert.equal(before.totalCharacters - data.totalCharacters, 5);
    assert.equal(before.uniqueChars - data.uniqueChars, 1);
    assert.equal(data.statistics.postsPerUser['4'], undefined);
  });
});

test('the page of the analysis shows the same numbers as the API', async () => {
  const { totalPosts, uniqueChars } = (await cast.charlie.get('/posts/analytics')).json.data;
  const { html } = await charlie.open('/analysis');
  assert.ok(html.includes(`<dt>Posts</dt><dd>${totalPosts.toLocaleString('en')}</dd>`));
  assert.ok(html.includes(`<dd>${uniqueChars.toLocaleString('en')}</dd>`));
});
