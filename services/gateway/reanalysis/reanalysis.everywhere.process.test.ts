import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { createTraceparent, formatTraceparent, newId } from '@octavo/core';
import { startTestSystem, type TestSystem } from '@octavo/octavo/testing';
import { promptly, until } from '@octavo/testing';
import { natsIsMissing, startTestNats } from '@octavo/testing/engines';
import { assertError, castOf, type Person, signedIn } from '../testing.ts';

const praise = 'I love this place, the food was wonderful!';
const complaint = 'Horrible service, I am so disappointed.';

describe('with jobs in the database', async () => {
  const system = await startTestSystem();
  after(() => system[Symbol.asyncDispose]());
  await testReanalyses(system);
});

describe('with NATS', { skip: natsIsMissing() }, async () => {
  const nats = await startTestNats();
  const system = await startTestSystem({ NATS_URL: nats.url });
  after(() => system[Symbol.asyncDispose]());
  await testReanalyses(system);
  const { alice, bob, charlie } = await castOf(system);

  test('one trace connects the request, its event and the classification', async (context) => {
    const connection = await connect({ servers: nats.url });
    context.after(() => connection.close());
    const subscription = connection.subscribe('octavo.posts.*');
    await connection.flush();
    const trace = createTraceparent();
    const response = await alice.post(
      '/posts',
      { title: 'Traced', body: praise },
      { traceparent: formatTraceparent(trace) },
    );
    const subject = String(response.json.data.id);
    const seen: string[] = [];
    for await (const message of subscription) {
      if (message.headers?.get('ce-subject') !== subject) continue;
      assert.equal(message.headers.get('ce-traceparent').split('-')[1], trace.traceId);
      seen.push(message.subject);
      if (seen.length === 2) break;
    }
    assert.deepEqual(seen, ['octavo.posts.post-created-v1', 'octavo.posts.post-sentiment-v1']);
  });

  test('posts written while the broker is down are published and classified when it is back', async () => {
    await nats.kill();
    assertError(await alice.post('/posts/reanalyze'), 503, 'SERVICE_UNAVAILABLE');
    const { id } = await alice.create({ title: 'Meanwhile', body: complaint });
    await until(async () => (await readiness(system)).messageBroker !== undefined);
    assert.equal((await fetch(`${system.url}/readiness`)).status, 200);
    assert.equal((await bob.get('/admin/status')).json.data.integrations.messageBroker, true);
    assert.match(
      await (await fetch(`${system.url}/metrics`)).text(),
      /integration_up\{integration="eventStream"\} 0/,
    );
    if (process.env.TEST_RPC !== 'remote') {
      const metrics = await (await fetch(`${system.url}/metrics`)).text();
      assert.match(metrics, /outbox_rows_waiting\{reader="publisher"\} [1-9]/);
    }
    await nats.revive();
    assert.equal((await sentimentOf(charlie, id)).label, 'negative');
    await until(async () => (await readiness(system)).messageBroker === undefined);
    await reanalyze(alice);
  });

  test('a hanging broker is unavailable in time, and recovers', async (context) => {
    nats.freeze();
    context.after(() => nats.thaw());
    assertError(await promptly(() => alice.post('/posts/reanalyze')), 503, 'SERVICE_UNAVAILABLE');
    const { id } = await alice.create({ title: 'Frozen', body: complaint });
    nats.thaw();
    assert.equal((await sentimentOf(charlie, id)).label, 'negative');
    await reanalyze(alice);
  });

  test('lost streams are reported by readiness, metrics and the status page, and created again', async (context) => {
    const page = await signedIn(system, 'bob');
    const connection = await connect({ servers: nats.url });
    context.after(() => connection.close());
    const { streams } = await jetstreamManager(connection);
    const loseStreams = async () => {
      for await (const { config } of streams.list()) await streams.delete(config.name);
    };
    const [seen, broker, events] = await until(async () => {
      // What was found out last counts for a second.
      await delay(1_100);
      await loseStreams();
      const found = await Promise.all([
        readiness(system),
        metricOf(system, 'messageBroker'),
        metricOf(system, 'eventStream'),
      ]);
      // A busy machine may be too slow for a look, which then says nothing about the streams.
      return !JSON.stringify(found[0]).includes('no answer within') && found;
    });
    assert.match(seen.messageBroker ?? '', /^failing: The message broker has lost OCTAVO_JOBS/);
    assert.match(seen.eventStream ?? '', /^failing: The message broker has lost OCTAVO_POSTS/);
    assert.deepEqual([broker, events], [0, 0]);
    await assertRepaired();
    // Here, too, the page may show what was found out a moment ago, before the streams went.
    await until(async () => {
      await loseStreams();
      const { html } = await page.open('/status');
      return ['Reanalysis jobs', 'Event stream'].every((label) =>
        new RegExp(`${label}</td>[^<]*<td[^>]*><span class="badge bad">does not respond`).test(html),
      );
    });
    assert.equal((await bob.get('/admin/status')).json.data.integrations.messageBroker, true);
    await assertRepaired();
  });

  test('a broker that comes back empty gets its streams and the stored events again', async (context) => {
    const { id } = await alice.create({ title: 'Before', body: praise });
    await sentimentOf(charlie, id);
    await nats.replace();
    await assertRepaired();
    const connection = await connect({ servers: nats.url });
    context.after(() => connection.close());
    const { streams } = await jetstreamManager(connection);
    const subjects_filter = 'octavo.posts.post-created-v1';
    const { state } = await streams.info('OCTAVO_POSTS', { subjects_filter });
    assert.ok((state.subjects?.[subjects_filter] ?? 0) > 200, JSON.stringify(state));
  });

  /** Asserts that nothing is reported, and jobs and events are processed. */
  async function assertRepaired(): Promise<void> {
    await until(async () => Object.keys(await readiness(system)).length === 0);
    await until(async () => (await metricOf(system, 'messageBroker')) === 1);
    await until(async () => (await metricOf(system, 'eventStream')) === 1);
    const { id } = await alice.create({ title: 'Afterwards', body: complaint });
    assert.equal((await sentimentOf(charlie, id)).label, 'negative');
    await reanalyze(alice);
  }
});

/** Tests that both brokers must pass. */
async function testReanalyses(system: TestSystem): Promise<void> {
  const { alice, bob, charlie, stranger } = await castOf(system);

  test('a reanalysis is queued, runs and reports its result', async () => {
    await alice.create({ title: 'One', body: praise });
    const asked = await alice.post('/posts/reanalyze');
    assert.equal(asked.status, 202, asked.text);
    assert.deepEqual(Object.keys(asked.json), ['data']);
    const { jobId, ...ticket } = asked.json.data;
    assert.deepEqual(ticket, { status: 'queued' });
    assert.equal(asked.headers.get('location'), `/api/v1/posts/reanalyze/${jobId}`);
    const job = await jobOf(charlie, jobId);
    assert.deepEqual(Object.keys(job), [
      'jobId',
      'status',
      'progress',
      'createdAt',
      'startedAt',
      'finishedAt',
      'result',
    ]);
    assert.equal(job.status, 'succeeded');
    assert.equal(job.progress, 1);
    for (const time of [job.createdAt, job.startedAt, job.finishedAt]) {
      assert.match(time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    }
    const { posts, statisticsRepaired, classified } = job.result;
    assert.ok(posts >= 1 && classified >= 1);
    assert.equal(statisticsRepaired, false);
    const late = await alice.delete(`/posts/reanalyze/${jobId}`);
    assertError(late, 409, 'CONFLICT');
  });

  test('a reanalysis needs write access, and a missing one is 404', async () => {
    assertError(await charlie.post('/posts/reanalyze'), 403, 'FORBIDDEN');
    assertError(await stranger.post('/posts/reanalyze'), 401, 'UNAUTHORIZED');
    assertError(await charlie.delete(`/posts/reanalyze/${newId()}`), 403, 'FORBIDDEN');
    assertError(await stranger.get(`/posts/reanalyze/${newId()}`), 401, 'UNAUTHORIZED');
    for (const id of [newId(), 'x', '..%2f', "'", 'é']) {
      assertError(await charlie.get(`/posts/reanalyze/${encodeURIComponent(id)}`), 404, 'NOT_FOUND');
      assertError(await bob.delete(`/posts/reanalyze/${encodeURIComponent(id)}`), 404, 'NOT_FOUND');
    }
    assertError(await alice.put('/posts/reanalyze', {}), 405, 'METHOD_NOT_ALLOWED');
  });

  test('a new post is classified, a changed one again, and a deleted one has no sentiment', async () => {
    const { id } = await alice.create({ title: 'Lunch', body: praise });
    const { label, probabilities, model, classifiedAt, ...rest } = await sentimentOf(charlie, id);
    assert.deepEqual(rest, {});
    assert.equal(label, 'positive');
    assert.match(model, /^octavo-/);
    assert.match(classifiedAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    const direct = await alice.post('/ml/sentiment', { text: `Lunch\n${praise}` });
    assert.deepEqual(direct.json.data, { label, probabilities });
    await alice.put(`/posts/${id}`, { body: complaint });
    await until(async () => (await sentimentOf(charlie, id)).label === 'negative');
    await bob.delete(`/posts/${id}`);
    assertError(await charlie.get(`/posts/${id}/sentiment`), 404, 'NOT_FOUND');
  });

  test('a sentiment needs a token, and a missing one is 404', async () => {
    assertError(await stranger.get('/posts/1/sentiment'), 401, 'UNAUTHORIZED');
    assertError(await charlie.get('/posts/9007199254740991/sentiment'), 404, 'NOT_FOUND');
    for (const id of ['0', '-1', 'x', '1.5']) {
      assertError(await charlie.get(`/posts/${id}/sentiment`), 400, 'INVALID_INPUT');
    }
  });

  test('posts of a bulk request are classified, too', async () => {
    const posts = Array.from({ length: 200 }, (_, index) => ({
      title: `Bulk ${index}`,
      body: index % 2 === 0 ? praise : complaint,
    }));
    const { postIds } = (await alice.post('/posts/bulk', { posts })).json.data;
    const labels = new Set<string>();
    for (const [index, id] of postIds.entries()) {
      if (index % 20 < 2) labels.add(`${index % 2} ${(await sentimentOf(charlie, id)).label}`);
    }
    assert.deepEqual(labels, new Set(['0 positive', '1 negative']));
  });

  test('several reanalyses can be requested at once', async () => {
    const asked = await Promise.all([1, 2, 3].map(() => reanalyze(alice)));
    assert.equal(new Set(asked.map(({ jobId }) => jobId)).size, 3);
  });
}

async function reanalyze(person: Person) {
  const asked = await person.post('/posts/reanalyze');
  assert.equal(asked.status, 202, asked.text);
  const job = await jobOf(person, asked.json.data.jobId);
  assert.equal(job.status, 'succeeded', JSON.stringify(job));
  return job;
}

/** The job once it has finished. */
async function jobOf(person: Person, jobId: string) {
  let last = 0;
  return until(async () => {
    const response = await person.get(`/posts/reanalyze/${jobId}`);
    assert.equal(response.status, 200, response.text);
    const job = response.json.data;
    if (!['queued', 'running'].includes(job.status)) return job;
    assert.ok(job.progress >= last && job.progress < 1);
    last = job.progress;
    return false;
  });
}

/** The sentiment of a post once there is one. */
async function sentimentOf(person: Person, id: number) {
  return until(async () => {
    const response = await person.get(`/posts/${id}/sentiment`);
    if (response.status === 200) return response.json.data;
    assert.equal(response.status, 404, response.text);
    return false;
  });
}

async function readiness({ url }: TestSystem): Promise<Record<string, string>> {
  const response = (await (await fetch(`${url}/readiness`)).json()) as {
    integrations?: Record<string, string>;
  };
  return response.integrations ?? {};
}

/** Value of `integration_up`. */
async function metricOf({ url }: TestSystem, integration: string): Promise<number> {
  const metrics = await (await fetch(`${url}/metrics`)).text();
  return Number(new RegExp(`^integration_up{integration="${integration}"} (\\d)$`, 'm').exec(metrics)?.[1]);
}
