import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { eventually, until } from '@octavo/testing';
import { natsIsMissing, testDatabaseUrl } from '@octavo/testing/engines';
import { type Cluster, missingOf, type Replica, startCluster, startLoad } from './cluster.ts';

const skip = natsIsMissing() || (await testDatabaseUrl()).skip;

const cluster = (skip ? undefined : await startCluster()) as Cluster;

describe('two of each service on PostgreSQL, NATS and S3', { skip }, () => {
  test('started at once on an empty database, and are ready', async () => {
    for (const replica of allOf(cluster)) {
      await eventually(async () => {
        const response = await fetch(`${replica.url}/readiness`);
        assert.equal(response.status, 200, `${replica.name}: ${await response.text()}`);
      });
    }
  });

  test('share the load', async () => {
    const { cast, gateways, posts, authz } = cluster;
    const { id } = await cast.alice.create();
    for (let count = 0; count < 40; count++)
      assert.equal((await cast.charlie.get(`/posts/${id}`)).status, 200);
    // What one gateway writes, the other has at once.
    for (let count = 0; count < 10; count++) {
      const { id } = await cast.alice.create();
      assert.equal((await cast.charlie.get(`/posts/${id}`)).status, 200);
    }
    for (const [replicas, route, least] of [
      [gateways, /route="\/api\/v1\/posts\/:id"/, 20],
      [posts, /route="\/posts\.v1\.PostService\/GetPost"/, 15],
      [authz, /route="\/authz\.v1\.AuthService\/Decide"/, 1],
    ] as const) {
      for (const replica of replicas) {
        const served = await replica.figure('http_request_duration_seconds_count', route);
        assert.ok(served >= least, `${replica.name} at ${replica.host} served ${served}`);
      }
    }
  });

  test('store exports in the bucket, whichever is asked', async () => {
    const { cast } = cluster;
    const sent = (await cast.charlie.get('/posts/export')).text;
    for (let count = 0; count < 2; count++) {
      const [newest] = await until(async () => {
        const { data } = (await cast.charlie.get('/exports')).json;
        return data.length > 0 && data;
      });
      assert.equal((await cast.charlie.get(`/exports/${newest.Key}`)).text, sent);
    }
  });

  test('lose nothing that was acknowledged when one of each is killed', async () => {
    const { cast, balancer } = cluster;
    await using load = startLoad(cast);
    const { jobId } = (await cast.alice.post('/posts/reanalyze')).json.data;
    for (const kind of ['workers', 'posts', 'authz', 'gateways'] as const) {
      const [first] = cluster[kind];
      await setTimeout(300);
      await first?.kill();
    }
    await load.reaches(20);
    const before = await load.stop();
    await using after = startLoad(cast);
    await setTimeout(1_000);
    const { failures, created } = await after.stop();
    assert.deepEqual(failures, [], 'with one left of each everything works');
    const ids = [...before.created, ...created];
    assert.deepEqual(await missingOf(cast.charlie, ids), []);
    await classified(ids);
    await until(
      async () => (await cast.alice.get(`/posts/reanalyze/${jobId}`)).json.data.status === 'succeeded',
    );
    for (const kind of ['authz', 'posts', 'workers', 'gateways'] as const) await cluster[kind][0]?.start();
    await until(async () => (await fetch(`${balancer.url}/readiness`)).status === 200);
  });

  test('are restarted one by one without a request that fails', async () => {
    const { cast, balancer, gateways } = cluster;
    await using load = startLoad(cast);
    await setTimeout(500);
    for (const replica of allOf(cluster)) {
      const isBalanced = gateways.includes(replica);
      if (isBalanced) await balancer.take(replica.url);
      await replica.restart();
      if (isBalanced) balancer.put(replica.url);
      await setTimeout(300);
    }
    await load.reaches(50);
    const { created, failures } = await load.stop();
    assert.deepEqual(failures, []);
    assert.deepEqual(await missingOf(cast.charlie, created), []);
    await classified(created);
  });

  test('go on while NATS is cut off, and make up for it afterwards', async () => {
    const { cast, balancer, nats } = cluster;
    // Ready all the time, but for the short waits of the checks on a busy machine.
    const isReadyAnd = async (broker: 'missed' | 'there') => {
      const response = await fetch(`${balancer.url}/readiness`);
      const { integrations } = (await response.json()) as { integrations?: Record<string, string> };
      const isMissed = integrations?.messageBroker?.startsWith('failing') ?? false;
      return response.status === 200 && isMissed === (broker === 'missed');
    };
    const { jobId } = (await cast.alice.post('/posts/reanalyze')).json.data;
    nats.cut();
    await until(() => isReadyAnd('missed'));
    await using load = startLoad(cast);
    await setTimeout(2_000);
    const refused = await cast.alice.post('/posts/reanalyze');
    assert.equal(refused.status, 503);
    assert.equal(refused.json.error.code, 'SERVICE_UNAVAILABLE');
    const { created, failures } = await load.stop();
    assert.deepEqual(failures, []);
    nats.open();
    await until(() => isReadyAnd('there'));
    await classified(created);
    const next = (
      await until(async () => {
        const answer = await cast.alice.post('/posts/reanalyze');
        return answer.status === 202 && answer;
      })
    ).json.data;
    for (const id of [jobId, next.jobId]) {
      await until(
        async () => (await cast.alice.get(`/posts/reanalyze/${id}`)).json.data.status === 'succeeded',
      );
    }
  });

  /** Resolves when each of the posts has its sentiment. */
  async function classified(ids: readonly number[]): Promise<void> {
    for (const id of ids) {
      await until(async () => (await cluster.cast.charlie.get(`/posts/${id}/sentiment`)).status === 200);
    }
  }
});

function allOf({ authz, posts, workers, gateways }: Cluster): Replica[] {
  return [...authz, ...posts, ...workers, ...gateways];
}
