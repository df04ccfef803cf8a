import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { describe, type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { startProcess, stopProcess } from '@octavo/octavo/testing';
import { eventually } from '@octavo/testing';
import { type Caught, type SinkOptions, type SmtpSink, startSmtpSink } from '@octavo/testing/engines';
import { inTestMode, secret, type World } from '../testing.ts';
import type { MailRow } from './store.ts';
import { startMailing, type TestMailing } from './testing.ts';

await inTestMode((world) => {
  describe('a worker process', () => {
    test('that is killed after the server accepted a mail sends the same mail again', async (t) => {
      const { promise: held, resolve: letGo } = Promise.withResolvers<void>();
      let isFirst = true;
      const hold = () => {
        const wait = isFirst ? held : undefined;
        isFirst = false;
        return wait;
      };
      const { sink, mailing, startWorker } = await start(t, world, { hold });
      const id = await mailing.enqueue();
      const first = await startWorker();
      await sink.hasCaught(1);
      assert.equal((await mailing.entry(id)).status, 'sending');
      await stopProcess(first, 'SIGKILL');
      letGo();
      await startWorker();
      await sink.hasCaught(2);
      const row = await mailing.entryWhen(id, isOver);
      assert.deepEqual([row.status, row.claims, row.attempts], ['sent', 2, 2]);
      assert.deepEqual(
        sink.caught.map(({ messageId }) => messageId),
        [`<${id}@localhost>`, `<${id}@localhost>`],
      );
    });

    test('that is told to stop finishes its mail, claims no other, and closes its connection', async (t) => {
      const { promise: held, resolve: letGo } = Promise.withResolvers<void>();
      const { sink, mailing, startWorker } = await start(t, world, { hold: () => held });
      const ids = [await mailing.enqueue(), await mailing.enqueue()];
      const worker = await startWorker({ PASSWORDLESS_MAIL_CONCURRENCY: '1' });
      await sink.hasCaught(1);
      const stopping = stopProcess(worker);
      await delay(100);
      letGo();
      await stopping;
      assert.equal(worker.exitCode, 0);
      const rows = await Promise.all(ids.map((id) => mailing.entry(id)));
      assert.deepEqual(rows.map(({ status }) => status).sort(), ['pending', 'sent']);
      assert.equal(sink.caught.length, 1);
      assert.deepEqual(await mailing.database.kysely.selectFrom('mail_worker').selectAll().execute(), []);
    });

    test('that is told to stop while the mail server hangs releases its mail', async (t) => {
      const { promise: never, resolve: end } = Promise.withResolvers<undefined>();
      t.after(() => end(undefined));
      let asked = 0;
      const answer: SinkOptions['answer'] = (stage) =>
        stage === 'data' && ++asked === 1 ? never : undefined;
      const { sink, mailing, startWorker } = await start(t, world, { answer });
      const id = await mailing.enqueue();
      const worker = await startWorker({ PASSWORDLESS_MAIL_LEASE_SECONDS: '3600' });
      while (sink.asked === 0) await delay(10);
      await stopProcess(worker);
      assert.equal(worker.exitCode, 0);
      const row = await mailing.entry(id);
      assert.deepEqual([row.status, row.attempts, row.claims], ['pending', 0, 1]);
      await startWorker();
      assert.equal((await mailing.entryWhen(id, isOver)).claims, 2);
    });

    test('keeps its mail while the mail server takes longer than a lease', async (t) => {
      const { sink, mailing, startWorker } = await start(t, world, { hold: () => delay(4_000) });
      const id = await mailing.enqueue();
      const workers = [1, 2].map(() => startWorker({ PASSWORDLESS_MAIL_LEASE_SECONDS: '1' }));
      await Promise.all(workers);
      const row = await mailing.entryWhen(id, isOver);
      assert.deepEqual([row.status, row.claims, sink.caught.length], ['sent', 1, 1]);
    });

    test('is woken by another process', async (t) => {
      const { sink, mailing, startWorker } = await start(t, world, {});
      await startWorker({ PASSWORDLESS_MAIL_POLL_SECONDS: '3600' });
      await mailing.enqueue();
      mailing.wakeWorkers();
      await sink.hasCaught(1);
    });
  });

  test('two web and three worker processes, one killed again and again, lose no mail', async (t) => {
    const { sink, mailing, environment, startWorker } = await start(t, world, {});
    const webs = await Promise.all([1, 2].map(() => startProcess('passwordless', environment)));
    t.after(() => Promise.all(webs.map(({ child }) => stopProcess(child))));
    const workers = await Promise.all([1, 2, 3].map(() => startWorker()));
    const wanted = 240;
    const addresses = Array.from({ length: wanted }, (_, index) => `reader-${index}@example.com`);
    const killing = killOneByOne(workers, startWorker, () => sink.caught.length >= wanted);
    for (let first = 0; first < wanted; first += 8) {
      const batch = addresses.slice(first, first + 8);
      await Promise.all(batch.map((email, index) => requestLink(webs[index % 2]?.url ?? '', email)));
    }
    const kills = await killing;
    await emptied(mailing);
    assert.ok(kills >= 2, `${kills} kills`);
    assert.deepEqual([...new Set(sink.caught.map(({ to }) => to[0]))].sort(), addresses.sort());
    assertOneIdEach(sink.caught);
    const duplicates = sink.caught.length - wanted;
    // Each kill interrupts only a few mails that were claimed a moment ago.
    assert.ok(duplicates <= kills * 5, `${duplicates} duplicates after ${kills} kills`);
  });
});

test('a worker that lost its lease changes nothing', async (t) => {
  const { promise: held, resolve: letGo } = Promise.withResolvers<void>();
  let isFirst = true;
  await using sink = await startSmtpSink({
    hold() {
      const wait = isFirst ? held : undefined;
      isFirst = false;
      return wait;
    },
  });
  const mailing = await startMailing(t, { databaseUrl: undefined }, at(sink));
  const id = await mailing.enqueue();
  await mailing.startWorker();
  await sink.hasCaught(1);
  mailing.clock.advance(60_001);
  mailing.wakeWorkers();
  const row = await mailing.entryWhen(id, isOver);
  assert.deepEqual([row.status, row.claims], ['sent', 2]);
  letGo();
  await mailing.logged('a mail took longer than its lease; another worker has taken it');
  assert.deepEqual(await mailing.entry(id), row);
  assertOneIdEach(sink.caught);
});

async function start(t: TestContext, world: World, sinkOptions: SinkOptions) {
  const sink = await startSmtpSink(sinkOptions);
  t.after(() => sink[Symbol.asyncDispose]());
  const mailing = await startMailing(t, world);
  // Processes use the real time.
  mailing.clock.set(Date.now());
  const environment = {
    NODE_ENV: 'test',
    LOG_LEVEL: 'silent',
    OCTAVO_DATA: mailing.dataFolder,
    DATABASE_URL: world.databaseUrl ?? '',
    PASSWORDLESS_JWT_SECRET: secret,
    PASSWORDLESS_MAGIC_LINK_BASE_URL: 'http://localhost:3003/verify/magic',
    PASSWORDLESS_WORKER: 'off',
    PASSWORDLESS_LIMIT_POST_PER_IP: '0',
    PASSWORDLESS_LIMIT_MAGIC_PER_IP: '0',
    PASSWORDLESS_MAIL_LEASE_SECONDS: '3',
    PASSWORDLESS_MAIL_POLL_SECONDS: '1',
    ...at(sink),
  };
  const startWorker = async (more = {}): Promise<ChildProcess> => {
    const { child } = await startProcess('passwordless-worker', { ...environment, ...more });
    t.after(() => stopProcess(child, 'SIGKILL'));
    return child;
  };
  return { sink, mailing, environment, startWorker };
}

function at({ port }: SmtpSink) {
  return { PASSWORDLESS_SMTP_HOST: '127.0.0.1', PASSWORDLESS_SMTP_PORT: String(port) };
}

/** Kills and replaces the workers in turn until all mails are finished. Returns the number of kills. */
async function killOneByOne(
  workers: ChildProcess[],
  startWorker: () => Promise<ChildProcess>,
  isDone: () => boolean,
): Promise<number> {
  let kills = 0;
  for (; kills < 2 || !isDone(); kills++) {
    await delay(200);
    const turn = kills % workers.length;
    await stopProcess(workers[turn] as ChildProcess, 'SIGKILL');
    workers[turn] = await startWorker();
  }
  return kills;
}

async function requestLink(url: string, email: string): Promise<void> {
  const response = await fetch(`${url}/request/magic`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email }),
  });
  assert.equal(response.status, 200, await response.text());
}

async function emptied({ database }: TestMailing): Promise<void> {
  await eventually(async () => {
    const rows = await database.kysely.selectFrom('email_queue').select('status').execute();
    const unsent = rows.filter(({ status }) => status !== 'sent');
    assert.deepEqual(unsent, []);
  });
}

/** A mail that arrives twice is the same mail. */
function assertOneIdEach(caught: readonly Caught[]): void {
  const ids = new Map<string, string>();
  for (const { to, messageId } of caught) {
    const [address = ''] = to;
    assert.equal(ids.get(address) ?? messageId, messageId);
    ids.set(address, messageId);
  }
}

function isOver({ finished_at_ms }: MailRow): boolean {
  return finished_at_ms !== null;
}
