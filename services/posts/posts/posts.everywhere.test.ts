import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { bulkCreate, inTestMode, listing, refusal, startPosts } from '../testing/testing.ts';

const alice = 1;
const bob = 2;

await inTestMode((world) => {
  describe('one post', () => {
    test('is created, read, changed and deleted', async (context) => {
      const { client, clock } = await startPosts(context, world);
      const nowMs = clock.now();
      const { post } = await client.createPost({
        post: { userId: alice, title: 'Fog', body: 'The ferries wait.' },
      });
      assert.deepEqual(post, {
        id: 1,
        userId: alice,
        title: 'Fog',
        body: 'The ferries wait.',
        createdAtMs: nowMs,
        updatedAtMs: nowMs,
        revision: 1,
      });
      assert.deepEqual((await client.getPost({ id: 1 })).post, post);
      clock.advance(1_000);
      const changed = { ...post, title: 'Fog lifts', updatedAtMs: nowMs + 1_000, revision: 2 };
      assert.deepEqual(
        (await client.updatePost({ id: 1, title: 'Fog lifts', ifRevisions: [] })).post,
        changed,
      );
      assert.deepEqual((await client.getPost({ id: 1 })).post, changed);
      await client.deletePost({ id: 1, ifRevisions: [] });
      assert.equal((await refusal(client.getPost({ id: 1 }))).code, 'not_found');
    });

    test('keeps its text unchanged, whatever it is', async (context) => {
      const { client } = await startPosts(context, world);
      const texts = [
        'e\u0301 is not \u00e9',
        '👩‍💻🏳️‍🌈',
        '\u0001\u001f\u007f\ufeff\uffff',
        "'; DROP TABLE post; --",
        ' \t x \r\n ',
        '\u{10ffff}',
        'İΣς',
      ];
      for (const text of texts) {
        const { post } = await client.createPost({ post: { userId: alice, title: text, body: text } });
        const read = (await client.getPost({ id: post?.id ?? 0 })).post;
        assert.deepEqual([read?.title, read?.body], [text, text]);
      }
    });

    test('may be as long as 500 and 10,000 code points', async (context) => {
      const { client } = await startPosts(context, world);
      const title = '𝒯'.repeat(500);
      const body = '😀'.repeat(10_000);
      const { post } = await client.createPost({ post: { userId: Number.MAX_SAFE_INTEGER, title, body } });
      assert.deepEqual([post?.title, post?.body, post?.userId], [title, body, Number.MAX_SAFE_INTEGER]);
      assert.equal((await client.listPosts(listing({ filter: { search: '😀'.repeat(256) } }))).total, 1);
    });

    test('that does not exist is not found', async (context) => {
      const { client } = await startPosts(context, world);
      for (const id of [1, 0, -1, Number.MAX_SAFE_INTEGER]) {
        assert.equal((await refusal(client.getPost({ id }))).code, 'not_found');
        assert.equal(
          (await refusal(client.updatePost({ id, title: 'x', ifRevisions: [] }))).code,
          'not_found',
        );
        assert.equal((await refusal(client.deletePost({ id, ifRevisions: [] }))).code, 'not_found');
      }
    });

    test('that is invalid is refused by field', async (context) => {
      const { client } = await startPosts(context, world);
      const post = { userId: 0, title: ' \u3000\t\ufeff\u3164\u2800', body: 'x\0y' };
      const { code, fields } = await refusal(client.createPost({ post }));
      assert.equal(code, 'validation_failed');
      assert.deepEqual(fields, {
        userId: 'must be a whole number from 1 to 9007199254740991',
        title: 'must not be blank',
        body: 'must not contain the character U+0000',
      });
      const long = await refusal(
        client.createPost({ post: { userId: 1, title: 'x'.repeat(501), body: 'x'.repeat(10_001) } }),
      );
      assert.deepEqual(long.fields, {
        title: 'must be at most 500 characters',
        body: 'must be at most 10000 characters',
      });
      assert.equal((await refusal(client.createPost({ post: undefined }))).code, 'validation_failed');
      assert.equal((await client.listPosts(listing())).total, 0);
    });

    // Protobuf cannot carry one.
    if (!world.remote) {
      test('with a lone surrogate is refused', async (context) => {
        const { client } = await startPosts(context, world);
        const { fields } = await refusal(
          client.createPost({ post: { userId: 1, title: 'a\ud800', body: '\udc00b' } }),
        );
        assert.deepEqual(fields, {
          title: 'must be well-formed Unicode',
          body: 'must be well-formed Unicode',
        });
      });
    }

    test('changed to the same texts stays as it is', async (context) => {
      const { client, clock } = await startPosts(context, world);
      const { post } = await client.createPost({ post: { userId: alice, title: 'Fog', body: 'b' } });
      clock.advance(1_000);
      assert.deepEqual((await client.updatePost({ id: 1, ifRevisions: [] })).post, post);
      assert.deepEqual(
        (await client.updatePost({ id: 1, title: 'Fog', body: 'b', ifRevisions: [1] })).post,
        post,
      );
      assert.equal(
        (await refusal(client.updatePost({ id: 1, title: '', ifRevisions: [] }))).code,
        'validation_failed',
      );
    });

    test('changes only where its revision is among those allowed', async (context) => {
      const { client } = await startPosts(context, world);
      await client.createPost({ post: { userId: alice, title: 'one', body: 'b' } });
      await client.updatePost({ id: 1, title: 'two', ifRevisions: [5, 1] });
      const late = await refusal(client.updatePost({ id: 1, title: 'three', ifRevisions: [1] }));
      assert.equal(late.code, 'precondition_failed');
      assert.equal(
        (await refusal(client.deletePost({ id: 1, ifRevisions: [1] }))).code,
        'precondition_failed',
      );
      assert.equal((await client.getPost({ id: 1 })).post?.title, 'two');
      await client.deletePost({ id: 1, ifRevisions: [2] });
    });

    test('changed by many who saw the same revision is changed by one', async (context) => {
      const { client } = await startPosts(context, world);
      await client.createPost({ post: { userId: alice, title: 'none', body: 'b' } });
      const tries = Array.from({ length: 20 }, (_, index) =>
        client.updatePost({ id: 1, title: `try ${index}`, ifRevisions: [1] }),
      );
      const settled = await Promise.allSettled(tries);
      assert.equal(settled.filter(({ status }) => status === 'fulfilled').length, 1);
      assert.equal((await client.getPost({ id: 1 })).post?.revision, 2);
    });

    test('created by many at once gets an id of its own, and no id is used twice', async (context) => {
      const { client } = await startPosts(context, world);
      const created = await Promise.all(
        Array.from({ length: 100 }, (_, index) =>
          client.createPost({ post: { userId: bob, title: `t${index}`, body: 'b' } }),
        ),
      );
      const ids = created.map(({ post }) => post?.id ?? 0).sort((a, b) => a - b);
      assert.deepEqual(
        ids,
        Array.from({ length: 100 }, (_, index) => index + 1),
      );
      await client.deletePost({ id: 100, ifRevisions: [] });
      const { post } = await client.createPost({ post: { userId: bob, title: 't', body: 'b' } });
      assert.equal(post?.id, 101);
    });

    test('created while others are read can be read at once', async (context) => {
      const { client } = await startPosts(context, world);
      let working = true;
      const reading = Array.from({ length: 4 }, async () => {
        for (; working; await nextTurn()) await client.getPost({ id: 1 }).catch(() => {});
      });
      const writing = Array.from({ length: 24 }, async (_, writer) => {
        for (let index = 0; index < 8; index++) {
          const { post } = await client.createPost({ post: { userId: bob, title: `${writer}`, body: 'b' } });
          assert.deepEqual((await client.getPost({ id: post?.id ?? 0 })).post, post);
        }
      });
      await Promise.all(writing).finally(() => {
        working = false;
      });
      await Promise.all(reading);
    });

    test('is not older than the one before, even if the clock is set back', async (context) => {
      const { client, clock } = await startPosts(context, world);
      const nowMs = clock.now();
      await client.createPost({ post: { userId: alice, title: 'a', body: 'b' } });
      clock.set(nowMs - 60_000);
      const { post } = await client.createPost({ post: { userId: alice, title: 'a', body: 'b' } });
      assert.equal(post?.createdAtMs, nowMs);
      const updated = (await client.updatePost({ id: 2, title: 'c', ifRevisions: [] })).post;
      assert.equal(updated?.updatedAtMs, nowMs);
    });
  });

  describe('many posts at once', () => {
    const digest = Buffer.from('one request');
    const rows = (count: number) =>
      Array.from({ length: count }, (_, index) => ({ userId: alice, title: `title ${index}`, body: 'b' }));

    test('are created in order', async (context) => {
      const { client } = await startPosts(context, world);
      const ids = await bulkCreate(client, rows(1_000));
      assert.deepEqual(
        ids,
        Array.from({ length: 1_000 }, (_, index) => index + 1),
      );
      const { posts, total } = await client.listPosts(listing({ descending: false, page: 50 }));
      assert.equal(total, 1_000);
      assert.deepEqual(
        posts.map(({ title }) => title),
        rows(1_000)
          .slice(980)
          .map(({ title }) => title),
      );
    });

    test('are all refused if one is invalid', async (context) => {
      const { client } = await startPosts(context, world);
      const bad = [...rows(2), { userId: alice, title: '', body: 'b' }];
      const { code, fields } = await refusal(bulkCreate(client, bad));
      assert.equal(code, 'validation_failed');
      assert.deepEqual(fields, { 'posts[2].title': 'must not be blank' });
      assert.equal(
        (await refusal(bulkCreate(client, rows(1_001)))).fields.posts,
        'must have at most 1000 items',
      );
      assert.equal((await client.listPosts(listing())).total, 0);
    });

    test('under a key are created once, and get the same reply for a day', async (context) => {
      const { client, clock } = await startPosts(context, world);
      const request = {
        posts: rows(3),
        errors: ['posts[3]: title: is required'],
        idempotencyKey: '2:key',
        digest,
      };
      const first = await client.bulkCreatePosts(request);
      assert.deepEqual(first, { ids: [1, 2, 3], replayed: false, errors: request.errors });
      clock.advance(24 * 3_600_000 - 1);
      assert.deepEqual(await client.bulkCreatePosts({ ...request, errors: [] }), {
        ...first,
        replayed: true,
      });
      const other = await refusal(client.bulkCreatePosts({ ...request, digest: Buffer.from('another') }));
      assert.equal(other.code, 'conflict');
      clock.advance(1);
      assert.deepEqual((await client.bulkCreatePosts(request)).ids, [4, 5, 6]);
      assert.equal((await client.listPosts(listing())).total, 6);
    });

    test('under one key at once are created once', async (context) => {
      const { client } = await startPosts(context, world);
      const request = { posts: rows(10), errors: [], idempotencyKey: '1:key', digest };
      const replies = await Promise.all(Array.from({ length: 8 }, () => client.bulkCreatePosts(request)));
      assert.equal(replies.filter(({ replayed }) => !replayed).length, 1);
      assert.ok(replies.every(({ ids }) => ids.join() === '1,2,3,4,5,6,7,8,9,10'));
      assert.equal((await client.listPosts(listing())).total, 10);
    });

    test('may be none, which stores the errors of the caller', async (context) => {
      const { client } = await startPosts(context, world);
      const request = { posts: [], errors: ['posts[0]: is wrong'], idempotencyKey: '1:none', digest };
      await client.bulkCreatePosts(request);
      assert.deepEqual(await client.bulkCreatePosts({ ...request, errors: [] }), {
        ids: [],
        replayed: true,
        errors: request.errors,
      });
    });
  });
});
