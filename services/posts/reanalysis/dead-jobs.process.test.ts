import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { newId, readConfig, systemClock } from '@octavo/core';
import { silentLog } from '@octavo/core/log';
import { ReanalysisStatus } from '@octavo/protocols/posts/v1/posts';
import { until } from '@octavo/testing';
import { Registry } from 'prom-client';
import { brokerSettings, openBrokers } from '../brokers.ts';
import { startPosts, type TestPosts } from '../testing/testing.ts';
import { ended, fresh, inEachProcess, type WorkWorld } from '../testing/work.ts';
import { reanalysisKind } from './reanalyses.ts';
import { endOpen } from './store.ts';

await inEachProcess((each) => {
  test('a job that failed for good is listed, and done when it is tried again', async (context) => {
    const world = fresh(each);
    const idle = { ...world, settings: { ...world.settings, POSTS_WORKER: 'off' } };
    const posts = await startPosts(context, idle);
    const octavo = commandLine(world, posts);
    assert.deepEqual(await octavo('list'), { code: 0, out: 'no dead jobs\n', err: '' });
    const { reanalysis } = await posts.client.requestReanalysis({});
    const id = reanalysis?.id ?? '';
    await failFor(world, posts);
    const failed = await ended(posts.client, id);
    assert.deepEqual(
      [failed.status, failed.error],
      [ReanalysisStatus.REANALYSIS_STATUS_FAILED, 'out of luck'],
    );
    assert.match(await posts.metrics(), /^posts_jobs_failed 1$/m);
    const listed = await octavo('list', '--limit', '5');
    assert.match(listed.out, new RegExp(`^${id}  reanalysis  \\d{4}-\\S+Z  1x\\n {6}out of luck\\n$`));
    assert.equal((await octavo('retry', id)).out, `${id} is queued again\n`);
    assert.equal((await octavo('list')).out, 'no dead jobs\n');
    assert.match((await octavo('retry', id)).err, /does not exist/);
    assert.match((await octavo('retry', newId())).err, /does not exist/);
    assert.match((await octavo('retry')).err, /needs the id/);
    assert.match((await octavo('burn')).err, /needs one of list, retry/);
    await posts.stop();
    const { client, clock } = await startPosts(context, world, posts.dataFolder);
    clock.set(Date.now() + 1_000);
    const done = await ended(client, id);
    assert.deepEqual([done.status, done.error], [ReanalysisStatus.REANALYSIS_STATUS_SUCCEEDED, undefined]);
  });
});

/** A worker that fails at the first job, for good. */
async function failFor({ settings }: WorkWorld, { open }: TestPosts): Promise<void> {
  await using database = await open();
  const context = { log: silentLog, metrics: new Registry(), clock: systemClock };
  await using brokers = await openBrokers(readConfig(brokerSettings, settings ?? {}), context, database);
  const { promise, resolve } = Promise.withResolvers<void>();
  const onDead = async ({ id }: { id: string }, error: string) => {
    await endOpen(database, { id, status: 'failed', error, nowMs: Date.now() });
    resolve();
  };
  const work = { kind: reanalysisKind, concurrency: 1, attemptsMax: 1, onDead };
  await using _worker = brokers.queue?.work(work, async () => {
    throw new Error('out of luck');
  });
  await promise;
  await until(async () => (await brokers.queue?.dead(1))?.length === 1);
}

function commandLine({ databaseUrl, settings }: WorkWorld, { dataFolder }: TestPosts) {
  return async (...args: string[]) => {
    const child = spawn(
      process.execPath,
      [join(import.meta.dirname, '../../../apps/octavo/octavo.js'), 'jobs', ...args],
      {
        env: {
          ...settings,
          PATH: process.env.PATH,
          OCTAVO_DATA: dataFolder,
          DATABASE_URL: databaseUrl ?? '',
          LOG_LEVEL: 'silent',
        },
      },
    );
    const [out, err, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'exit'),
    ]);
    return { code, out, err };
  };
}
