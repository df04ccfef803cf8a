import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { startSmtpSink } from '@octavo/testing/engines';
import { inTestMode, secret, type World } from '../testing.ts';
import { MailQueueAdmin, type QueuedMail } from './queue-control.ts';
import { link, startMailing, type TestMailing } from './testing.ts';

await inTestMode((world) => {
  test('octavo queue lists, retries and removes mails', async (t) => {
    const responses = new Map([['nobody@example.com', '550 no such user']]);
    await using sink = await startSmtpSink({
      answer: (stage, address) => (stage === 'rcpt' ? (responses.get(address) ?? '451 later') : undefined),
    });
    const mailing = await startMailing(t, world, {
      PASSWORDLESS_SMTP_HOST: '127.0.0.1',
      PASSWORDLESS_SMTP_PORT: String(sink.port),
    });
    mailing.clock.set(Date.now());
    const octavo = commandLine(mailing, world);
    assert.deepEqual(await octavo('list'), { code: 0, out: 'no mails\n', err: '' });

    const [bad, good] = [await mailing.enqueue({ to: 'nobody@example.com' }), await mailing.enqueue()];
    await mailing.startWorker();
    await mailing.entryWhen(bad, ({ status }) => status === 'failed');
    const waiting = await mailing.entryWhen(good, ({ last_error }) => last_error !== null);

    const { out } = await octavo('list');
    assert.match(out, new RegExp(`^${bad}  failed .* 1x  magic-link  nobody@example\\.com$`, 'm'));
    assert.match(out, new RegExp(`^${good}  pending  next .* 1x  magic-link  bob@example\\.com$`, 'm'));
    assert.match(out, /EENVELOPE 550: .*no such user/);
    assert.ok(!out.includes(link) && !out.includes('123456'));
    const { database, clock } = mailing;
    const queue = new MailQueueAdmin({ database, clock, onDue: mailing.wakeWorkers });
    const idsOf = (mails: readonly QueuedMail[]) => mails.map(({ id }) => id);
    assert.deepEqual(idsOf(await queue.list({ status: 'failed', limit: 50 })), [bad]);
    assert.equal((await queue.list({ limit: 1 })).length, 1);

    // The command wakes the worker, which retries at once.
    assert.ok(waiting.next_try_at_ms > mailing.clock.now());
    // Later than the real time, which the command uses.
    mailing.clock.set(Date.now() + 60_000);
    assert.deepEqual(await octavo('retry', good), { code: 0, out: '1 mails are due now\n', err: '' });
    // The worker may have retried by its own clock too; the command counts attempts from the beginning.
    await mailing.entryWhen(
      good,
      ({ attempts, claims, status }) => claims >= 2 && attempts === 1 && status === 'pending',
    );

    const refused = await octavo('retry', bad);
    assert.deepEqual([refused.code, refused.out], [64, '']);
    assert.match(refused.err, /is failed and cannot be sent again: its text was removed/);

    assert.equal((await octavo('purge')).out, '1 mails removed\n');
    assert.deepEqual(idsOf(await queue.list({ limit: 50 })), [good]);
    assert.equal((await octavo('purge', '--status', 'pending')).out, '1 mails removed\n');
    assert.deepEqual(await queue.list({ limit: 50 }), []);
  });
});

function commandLine({ dataFolder }: TestMailing, { databaseUrl }: World) {
  return async (...args: string[]) => {
    const child = spawn(
      process.execPath,
      [join(import.meta.dirname, '../../../apps/octavo/octavo.js'), 'queue', ...args],
      {
        env: {
          PATH: process.env.PATH,
          OCTAVO_DATA: dataFolder,
          DATABASE_URL: databaseUrl ?? '',
          PASSWORDLESS_JWT_SECRET: secret,
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
