import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { testKey, verifyDkim } from '@octavo/mail/testing';
import { testFolder } from '@octavo/testing';
import { smtpdMissing, startTestSmtpd } from '@octavo/testing/engines';
import PostalMime from 'postal-mime';
import { link, startMailing } from '../testing.ts';
import { bodyNote } from './claim-store.ts';

const isOver = ({ finished_at_ms }: { finished_at_ms: number | null }) => finished_at_ms !== null;

describe('with a mail server of Debian', { skip: smtpdMissing() }, () => {
  test('mails arrive signed, unknown recipients fail, and a restart loses none', async (t) => {
    await using server = await startTestSmtpd();
    const key = testKey();
    const folder = testFolder('dkim');
    await writeFile(join(folder, 'dkim.pem'), key.privateKey, { mode: 0o600 });
    const mailing = await startMailing(
      t,
      { databaseUrl: undefined },
      {
        PASSWORDLESS_SMTP_HOST: '127.0.0.1',
        PASSWORDLESS_SMTP_PORT: String(server.port),
        PASSWORDLESS_EMAIL_FROM: 'Größe & Co <no-reply@example.org>',
        PASSWORDLESS_DKIM_DOMAIN: 'example.org',
        PASSWORDLESS_DKIM_SELECTOR: 's1',
        PASSWORDLESS_DKIM_PRIVATE_KEY_FILE: join(folder, 'dkim.pem'),
        PASSWORDLESS_MAIL_BACKOFF_SECONDS: '1',
      },
    );
    const id = await mailing.enqueue({ to: 'bob@mail.test' });
    const unknown = await mailing.enqueue({ to: 'charlie@mail.test' });
    const elsewhere = await mailing.enqueue({ to: 'charlie@elsewhere.test' });
    await mailing.startWorker();
    const source = await server.mailOfBob(`${id}@example.org`);
    assert.equal((await mailing.entryWhen(id, isOver)).status, 'sent');
    for (const refused of [unknown, elsewhere]) {
      const row = await mailing.entryWhen(refused, isOver);
      assert.deepEqual([row.status, row.attempts, row.text_body], ['failed', 1, bodyNote]);
      assert.match(row.last_error ?? '', /^EENVELOPE 5\d\d: /);
    }
    // The mailbox has LF line ends; on the wire they were CRLF.
    const onTheWay = Buffer.from(source.toString('latin1').replaceAll(/\r?\n/g, '\r\n'), 'latin1');
    assert.equal(verifyDkim(onTheWay, key.publicKey), 'example.org s1');
    const { from, to, text, messageId, headers } = await PostalMime.parse(source);
    assert.deepEqual([from?.name, to?.[0]?.address], ['Größe & Co', 'bob@mail.test']);
    assert.equal(messageId, `<${id}@example.org>`);
    assert.ok(text?.split('\n').includes(link));
    const received = headers.find(({ key: name }) => name === 'received')?.value ?? '';
    assert.match(received, /by mail.test \(OpenSMTPD\) with ESMTP/);

    await server.stop();
    const later = await mailing.enqueue({ to: 'bob@mail.test' });
    mailing.wakeWorkers();
    await mailing.logged('mails are paused: the mail server cannot be reached');
    assert.equal((await mailing.entryWhen(later, ({ status }) => status === 'pending')).attempts, 0);
    await server.start();
    mailing.clock.advance(60_000);
    await server.mailOfBob(`${later}@example.org`);
    assert.equal((await mailing.entryWhen(later, isOver)).attempts, 1);
  });
});
