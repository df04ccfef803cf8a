import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { newId } from '@octavo/core';
import { ReanalysisStatus } from '@octavo/protocols/posts/v1/posts';
import { until } from '@octavo/testing';
import { sql } from 'kysely';
import type { Store } from '../database.ts';
import { bulkCreate, inTestMode, refusal, startPosts, type World } from '../testing/testing.ts';
import { ended, fresh, onEveryBroker } from '../testing/work.ts';

const {
  REANALYSIS_STATUS_CANCELED: canceled,
  REANALYSIS_STATUS_RUNNING: running,
  REANALYSIS_STATUS_SUCCEEDED: succeeded,
} = ReanalysisStatus;

const rows = Array.from({ length: 300 }, (_, index) => ({
  userId: 1 + (index % 3),
  title: `Title ${index}`,
  body: index % 2 === 0 ? 'I love this, it is wonderful!' : 'Horrible, I am so disappointed.',
}));

await onEveryBroker((each) => {
  test('a reanalysis counts everything, repairs what differs and classifies every post', async (context) => {
    const { client, clock, open } = await startPosts(context, fresh(each));
    await bulkCreate(client, rows);
    const expected = await client.getAnalytics({});
    await using database = await open();
    await spoil(database);
    assert.notDeepEqual(await client.getAnalytics({}), expected);
    const nowMs = clock.now();
    const { reanalysis } = await client.requestReanalysis({});
    assert.match(reanalysis?.id ?? '', /^[0-9a-f-]{36}$/);
    const first = await ended(client, reanalysis?.id);
    const { id, ...rest } = first;
    assert.deepEqual(rest, {
      status: succeeded,
      progress: 1,
      createdAtMs: nowMs,
      startedAtMs: nowMs,
      finishedAtMs: nowMs,
      report: {
        posts: 300,
        statisticsRepaired: true,
        classified: 300,
        labelsChanged: rest.report?.labelsChanged,
      },
      error: undefined,
    });
    assert.deepEqual(await client.getAnalytics({}), expected);
    assert.equal((await client.getPostSentiment({ id: 1 })).classification?.model, 'octavo-1');
    const again = await client.requestReanalysis({});
    assert.notEqual(again.reanalysis?.id, id);
    const second = await ended(client, again.reanalysis?.id);
    assert.deepEqual(second.report, {
      posts: 300,
      statisticsRepaired: false,
      classified: 300,
      labelsChanged: 0,
    });
    const { reanalyses } = await client.listReanalyses({ limit: 10 });
    assert.deepEqual(new Set(reanalyses.map((each) => each.id)), new Set([id, second.id]));
  });

  test('a reanalysis goes on after the database was away for a moment', async (context) => {
    const { client, clock, open } = await startPosts(context, fresh(each, { JOB_LEASE_MS: '60000' }));
    await client.createPost({ post: { userId: 1, title: 'Fog', body: 'The ferries wait.' } });
    await using database = await open();
    const recover = await failReanalyses(database);
    const { reanalysis } = await client.requestReanalysis({});
    const id = reanalysis?.id ?? '';
    const status = async () => (await client.getReanalysis({ id })).reanalysis?.status;
    await until(async () => (await status()) === running);
    await setTimeout(400);
    await recover();
    // The job is tried again after a second, much sooner than another run could take over.
    for (let seconds = 0; seconds < 20 && (await status()) !== succeeded; seconds++) {
      await setTimeout(200);
      clock.advance(1_000);
    }
    assert.equal(await status(), succeeded);
  });

  test('reanalyses at the same time repair once', async (context) => {
    const { client, open } = await startPosts(context, fresh(each));
    await bulkCreate(client, rows);
    const expected = await client.getAnalytics({});
    await using database = await open();
    await spoil(database);
    const asked = await Promise.all([1, 2, 3].map(() => client.requestReanalysis({})));
    const all = await Promise.all(asked.map(({ reanalysis }) => ended(client, reanalysis?.id)));
    assert.equal(all.filter(({ report }) => report?.statisticsRepaired).length, 1);
    assert.deepEqual(await client.getAnalytics({}), expected);
  });

  test('a canceled reanalysis stays canceled', async (context) => {
    const world = fresh(each);
    const idle = { ...world, settings: { ...world.settings, POSTS_WORKER: 'off' } };
    const { client, dataFolder, stop } = await startPosts(context, idle);
    const { reanalysis } = await client.requestReanalysis({});
    const id = reanalysis?.id ?? '';
    assert.equal(reanalysis?.status, ReanalysisStatus.REANALYSIS_STATUS_QUEUED);
    assert.equal((await client.cancelReanalysis({ id })).reanalysis?.status, canceled);
    assert.equal((await client.cancelReanalysis({ id })).reanalysis?.status, canceled);
    const other = await client.requestReanalysis({});
    await stop();
    const again = await startPosts(context, world, dataFolder);
    assert.equal((await ended(again.client, other.reanalysis?.id)).status, succeeded);
    assert.equal((await again.client.getReanalysis({ id })).reanalysis?.status, canceled);
    const late = await refusal(again.client.cancelReanalysis({ id: other.reanalysis?.id ?? '' }));
    assert.equal(late.code, 'conflict');
  });

  test('a reanalysis that was never requested does not exist', async (context) => {
    const { client } = await startPosts(context, fresh(each));
    assert.equal((await refusal(client.getReanalysis({ id: newId() }))).code, 'not_found');
    assert.equal((await refusal(client.cancelReanalysis({ id: 'x' }))).code, 'not_found');
  });
});

describe('where the broker is off', () =>
  inTestMode((world: World) => {
    test('nothing can be reanalyzed', async (context) => {
      const { client } = await startPosts(context, { ...world, settings: { MESSAGE_BROKER: 'off' } });
      for (const call of [client.requestReanalysis({}), client.getReanalysis({ id: newId() })]) {
        const { code, reason, fields } = await refusal(call);
        assert.deepEqual(
          [code, reason, fields],
          ['unavailable', 'INTEGRATION_DISABLED', { integration: 'messageBroker' }],
        );
      }
    });
  }));

/** Lets what runs of reanalyses write fail, also that they give up, until the result is called. */
async function failReanalyses({ kysely, dialect }: Store): Promise<() => Promise<void>> {
  const run = (statement: string) => sql.raw(statement).execute(kysely);
  const isWrite = "new.posts is not null or (old.status = 'running' and new.status = 'queued')";
  if (dialect === 'sqlite') {
    await run(`create trigger fault before update on reanalysis when ${isWrite}
      begin select raise(abort, 'power failure'); end`);
    return async () => void (await run('drop trigger fault'));
  }
  await run(
    `create function posts.fail() returns trigger language plpgsql as 'begin raise exception ''power failure''; end'`,
  );
  await run(
    `create trigger fault before update on posts.reanalysis for each row when (${isWrite}) execute function posts.fail()`,
  );
  return async () => void (await run('drop function posts.fail cascade'));
}

/** Makes the stored statistics wrong. */
function spoil({ kysely }: Store) {
  return kysely
    .updateTable('character_tally')
    .set((e) => ({ occurrences: e('occurrences', '+', 7) }))
    .execute();
}
