import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type SinkOptions, startSmtpSink } from '@octavo/testing/engines';
import PostalMime from 'postal-mime';
import { inTestMode, type World } from '../testing.ts';
import { bodyNote } from './delivery/claim-store.ts';
import type { MailRow } from './store.ts';
import { link, startMailing } from './testing.ts';

await inTestMode((world) => {
  deliveries(world);
  failures(world);
  outages(world);
});

function isPending({ status, attempts }: MailRow): boolean {
  return status === 'pending' && attempts > 0;
}

function isOver({ finished_at_ms }: MailRow): boolean {
  return finished_at_ms !== null;
}

function at(port: number) {
  return { PASSWORDLESS_SMTP_HOST: '127.0.0.1', PASSWORDLESS_SMTP_PORT: String(port) };
}

function deliveries(world: World): void {
  describe('the e-mail worker', () => {
    test('sends queued mails, and deletes their texts', async (t) => {
      await using sink = await startSmtpSink();
      const mailing = await startMailing(t, world, at(sink.port));
      const id = await mailing.enqueue();
      assert.ok(!(await mailing.entry(id)).text_body.includes('live-token'));
      await mailing.startWorker();
      const row = await mailing.entryWhen(id, isOver);
      assert.deepEqual(
        [row.status, row.text_body, row.html_body, row.attempts, row.last_error],
        ['sent', bodyNote, bodyNote, 1, null],
      );
      const [mail] = sink.caught;
      assert.deepEqual(mail?.to, ['bob@example.com']);
      assert.equal(mail?.messageId, `<${id}@localhost>`);
      const { text, html, subject } = await PostalMime.parse(mail?.source.toString() ?? '');
      assert.equal(subject, 'Sign in to Octavo');
      assert.ok(text?.split('\n').includes(link));
      assert.ok(text?.includes('123456') && text.includes('10 minutes'));
      assert.ok(html?.includes(`href="${link}"`));
    });

    test('is woken when a mail is queued, also by another process', async (t) => {
      await using sink = await startSmtpSink();
      const mailing = await startMailing(t, world, at(sink.port));
      await mailing.startWorker();
      await mailing.enqueue();
      mailing.wakeWorkers();
      await sink.hasCaught(1);
      await mailing.enqueue();
      mailing.wakeWorkers();
      await sink.hasCaught(2);
    });

    test('notices new mails on its own if nothing wakes it', async (t) => {
      await using sink = await startSmtpSink();
      const mailing = await startMailing(t, world, { ...at(sink.port), PASSWORDLESS_MAIL_POLL_SECONDS: '1' });
      await mailing.startWorker();
      await mailing.enqueue();
      await sink.hasCaught(1);
    });

    test('sends each mail once, with any number of workers', async (t) => {
      await using sink = await startSmtpSink();
      const mailing = await startMailing(t, world, at(sink.port));
      const ids: string[] = [];
      for (let count = 0; count < 60; count++) ids.push(await mailing.enqueue());
      await Promise.all([mailing.startWorker(), mailing.startWorker(), mailing.startWorker()]);
      for (const id of ids) await mailing.entryWhen(id, isOver);
      const sent = sink.caught.map(({ messageId }) => messageId).sort();
      assert.deepEqual(sent, ids.map((id) => `<${id}@localhost>`).sort());
    });

    test('limits mails to one address about one event', async (t) => {
      const mailing = await startMailing(t, world);
      const notice = { kind: 'security', event: 'enrolment-attempt', quietMs: 3_600_000 } as const;
      assert.notEqual(await mailing.enqueue(notice), '');
      assert.equal(await mailing.enqueue(notice), '');
      assert.notEqual(await mailing.enqueue({ ...notice, to: 'alice@example.com' }), '');
      assert.notEqual(await mailing.enqueue({ ...notice, event: 'totp-added' }), '');
      mailing.clock.advance(3_600_001);
      assert.notEqual(await mailing.enqueue(notice), '');
    });
  });
}

function failures(world: World): void {
  describe('a mail that is not accepted', () => {
    const start = async (t: Parameters<typeof startMailing>[0], sinkOptions: SinkOptions, more = {}) => {
      const sink = await startSmtpSink(sinkOptions);
      t.after(() => sink[Symbol.asyncDispose]());
      const mailing = await startMailing(t, world, { ...at(sink.port), ...more });
      return { sink, mailing };
    };

    test('is retried with doubling waits and the same Message-ID', async (t) => {
      let authErrors = 3;
      const answer: SinkOptions['answer'] = (stage) =>
        stage === 'data' && authErrors-- > 0 ? '451 greylisted' : undefined;
      const { sink, mailing } = await start(t, { answer });
      const id = await mailing.enqueue();
      await mailing.startWorker();
      for (const [tries, seconds] of [5, 10, 20].entries()) {
        const row = await mailing.entryWhen(id, (now) => isPending(now) && now.attempts === tries + 1);
        const waitMs = row.next_try_at_ms - mailing.clock.now();
        assert.ok(
          waitMs >= seconds * 800 && waitMs <= seconds * 1_200,
          `${waitMs} ms after ${tries + 1} tries`,
        );
        assert.match(row.last_error ?? '', /451.*greylisted/);
        mailing.clock.advance(waitMs - 1);
        mailing.wakeWorkers();
        mailing.clock.advance(1);
        mailing.wakeWorkers();
      }
      const row = await mailing.entryWhen(id, isOver);
      assert.deepEqual([row.status, row.attempts, sink.asked], ['sent', 4, 4]);
      assert.equal(sink.caught[0]?.messageId, `<${id}@localhost>`);
    });

    test('fails at once if the rejection is permanent, and delays no other mail', async (t) => {
      const answer: SinkOptions['answer'] = (stage, address) =>
        stage === 'rcpt' && address.startsWith('nobody') ? '550 no such user' : undefined;
      const { sink, mailing } = await start(t, { answer }, { PASSWORDLESS_MAIL_CONCURRENCY: '1' });
      const bad = await mailing.enqueue({ to: 'nobody@example.com' });
      mailing.clock.advance(1);
      const good = await mailing.enqueue();
      await mailing.startWorker();
      await mailing.entryWhen(good, isOver);
      const row = await mailing.entry(bad);
      assert.deepEqual([row.status, row.attempts, row.text_body], ['failed', 1, bodyNote]);
      assert.match(row.last_error ?? '', /EENVELOPE 550: .*no such user/);
      assert.equal(sink.caught.length, 1);
      const { reason } = await mailing.logged('a mail failed');
      assert.equal(reason, 'EENVELOPE 550');
      assert.ok(!JSON.stringify(mailing.lines).includes('@example.com'));
    });

    test('fails after its last try', async (t) => {
      const { sink, mailing } = await start(
        t,
        { answer: () => '451 later' },
        { PASSWORDLESS_MAIL_TRIES_MAX: '2' },
      );
      const id = await mailing.enqueue();
      await mailing.startWorker();
      const row = await mailing.entryWhen(id, isPending);
      mailing.clock.set(row.next_try_at_ms);
      mailing.wakeWorkers();
      const last = await mailing.entryWhen(id, isOver);
      assert.deepEqual([last.status, last.attempts, last.text_body], ['failed', 2, bodyNote]);
      assert.match(last.last_error ?? '', /failed after 2 tries: .*451/);
      assert.equal(sink.caught.length, 0);
    });

    test('fails when its link expires, before and between tries', async (t) => {
      const { sink, mailing } = await start(t, { answer: () => '451 later' });
      const late = await mailing.enqueue({ expiresAtMs: mailing.clock.now() + 1_000 } as never);
      const tried = await mailing.enqueue({ expiresAtMs: mailing.clock.now() + 3_500 } as never);
      mailing.clock.advance(1_000);
      await mailing.startWorker();
      const row = await mailing.entryWhen(late, isOver);
      assert.deepEqual([row.status, row.last_error, row.text_body], ['failed', 'expired', bodyNote]);
      const other = await mailing.entryWhen(tried, isOver);
      assert.equal(other.status, 'failed');
      assert.match(other.last_error ?? '', /^expired before another try: .*451/);
      assert.equal(sink.asked, 0);
    });

    test('fails if its address is invalid', async (t) => {
      const { sink, mailing } = await start(t, {});
      const id = await mailing.enqueue({ to: 'bob@example.com\r\nBcc: charlie@example.com' });
      await mailing.startWorker();
      const row = await mailing.entryWhen(id, isOver);
      assert.deepEqual([row.status, row.last_error?.slice(0, 8)], ['failed', 'EADDRESS']);
      assert.equal(sink.connections, 0);
    });

    test('fails if the secret has changed', async (t) => {
      const { sink, mailing } = await start(t, {});
      const id = await mailing.enqueue();
      const garbled = mailing.database.kysely.updateTable('email_queue').set({ text_body: 'AAAA' });
      await garbled.where('id', '=', id).execute();
      await mailing.startWorker();
      const row = await mailing.entryWhen(id, isOver);
      assert.match(row.last_error ?? '', /cannot be decrypted/);
      assert.equal(sink.connections, 0);
    });
  });
}

function outages(world: World): void {
  describe('while the mail server', () => {
    test('is down, mails do not use up their tries, and all are sent when it is back', async (t) => {
      const gone = await startSmtpSink();
      const { port } = gone;
      await gone[Symbol.asyncDispose]();
      const mailing = await startMailing(t, world, { ...at(port), PASSWORDLESS_MAIL_BACKOFF_SECONDS: '1' });
      const ids = [await mailing.enqueue(), await mailing.enqueue(), await mailing.enqueue()];
      await mailing.startWorker();
      await mailing.logged('mails are paused: the mail server cannot be reached');
      for (const id of ids) {
        const row = await mailing.entryWhen(id, ({ status }) => status === 'pending');
        assert.equal(row.attempts, 0);
        if (row.claims > 0) assert.match(row.last_error ?? '', /^E\w+: /);
      }
      await using sink = await startSmtpSink({ port });
      mailing.clock.advance(60_000);
      for (const id of ids) assert.equal((await mailing.entryWhen(id, isOver)).attempts, 1);
      assert.equal(sink.caught.length, 3);
      assert.ok(
        mailing.lines.some(({ msg }) => msg === 'mails are paused: the mail server cannot be reached'),
      );
      assert.ok(mailing.lines.some(({ msg }) => msg === 'the mail server responds again'));
    });

    test('refuses our password, mails do not use up their tries, and the log has an error', async (t) => {
      await using sink = await startSmtpSink({ credentials: { username: 'octavo', password: 'right' } });
      const mailing = await startMailing(t, world, {
        ...at(sink.port),
        PASSWORDLESS_SMTP_USERNAME: 'octavo',
        PASSWORDLESS_SMTP_PASSWORD: 'wrong',
      });
      const id = await mailing.enqueue();
      const worker = await mailing.startWorker();
      const row = await mailing.entryWhen(id, ({ status, claims }) => status === 'pending' && claims > 0);
      assert.equal(row.attempts, 0);
      const waitMs = row.next_try_at_ms - mailing.clock.now();
      assert.ok(waitMs >= 24_000 && waitMs <= 36_000, `${waitMs} ms`);
      const { level } = await mailing.logged('mails are paused: the mail server rejects our settings');
      assert.equal(level, 'error');
      assert.ok(!JSON.stringify(mailing.lines).includes('wrong'));
      await worker[Symbol.asyncDispose]();
      mailing.clock.advance(60_000);
      await mailing.startWorker({ PASSWORDLESS_SMTP_PASSWORD: 'right' });
      assert.equal((await mailing.entryWhen(id, isOver)).status, 'sent');
    });

    test('fails on one mail, the others are sent', async (t) => {
      const { promise: never, resolve: end } = Promise.withResolvers<undefined>();
      t.after(() => end(undefined));
      await using sink = await startSmtpSink({
        answer: (stage, address) => (stage === 'data' && address.startsWith('tar') ? never : undefined),
      });
      const mailing = await startMailing(t, world, {
        ...at(sink.port),
        PASSWORDLESS_MAIL_TIMEOUT_SECONDS: '1',
      });
      const bad = await mailing.enqueue({ to: 'tarpit@example.com' });
      const good = await mailing.enqueue();
      await mailing.startWorker();
      await mailing.entryWhen(good, isOver);
      const row = await mailing.entryWhen(bad, isPending);
      assert.equal(row.attempts, 1);
      assert.ok(row.next_try_at_ms > mailing.clock.now());
    });
  });
}
