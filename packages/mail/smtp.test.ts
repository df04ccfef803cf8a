import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { describe, test } from 'node:test';
import { newId } from '@octavo/core';
import { freePort } from '@octavo/testing';
import { type SinkOptions, startSmtpSink } from '@octavo/testing/engines';
import { type Mail, MailError, type MailFault, openSmtpMailer, type SmtpOptions } from './index.ts';

const credentials = { username: 'octavo', password: 'of the tests' };
/** A host name that resolves to this machine, but is not known to be loopback. */
const elsewhere = '0.0.0.0';

/** The outcome of sending a mail. */
async function attempt(sinkOptions: SinkOptions, options: Partial<SmtpOptions> = {}) {
  await using sink = await startSmtpSink(sinkOptions);
  await using mailer = await openSmtpMailer({ host: '127.0.0.1', port: sink.port, ...options });
  const fault = (error: unknown) =>
    error instanceof MailError ? `${error.fault} ${error.code}` : String(error);
  const sent = await mailer.send(newMail()).then(() => 'sent', fault);
  const pinged = await mailer.ping().then(() => 'ready', fault);
  return { sent, pinged, caught: sink.caught };
}

describe('a reply of the mail server', () => {
  const cases: readonly [stage: string, answer: string, MailFault, code: string][] = [
    ['rcpt', '550 no such user', 'rejected', 'EENVELOPE 550'],
    ['rcpt', '450 try later', 'deferred', 'EENVELOPE 450'],
    ['rcpt', '451 greylisted', 'deferred', 'EENVELOPE 451'],
    ['data', '554 looks like spam', 'rejected', 'EMESSAGE 554'],
    ['data', '452 disk is full', 'deferred', 'EMESSAGE 452'],
    ['data', '421 going down', 'unreachable', 'EMESSAGE 421'],
    ['mail', '530 sign in first', 'misconfigured', 'EENVELOPE 530'],
    ['mail', '553 not your address', 'misconfigured', 'EENVELOPE 553'],
    ['mail', '451 later', 'deferred', 'EENVELOPE 451'],
  ];
  for (const [stage, answer, fault, code] of cases) {
    test(`${answer.slice(0, 3)} to ${stage} is ${fault}`, async () => {
      const { sent, caught } = await attempt({ answer: (at) => (at === stage ? answer : undefined) });
      assert.equal(sent, `${fault} ${code}`);
      assert.equal(caught.length, 0);
    });
  }

  test('a refused mail does not hold up the next, on the same connection', async () => {
    await using sink = await startSmtpSink({
      answer: (stage, address) => (stage === 'rcpt' && address.startsWith('no') ? '550 no' : undefined),
    });
    await using mailer = await openSmtpMailer({ host: '127.0.0.1', port: sink.port, connections: 1 });
    await assert.rejects(mailer.send(newMail({ to: 'nobody@example.org' })));
    await mailer.send(newMail());
    assert.deepEqual([sink.caught.length, sink.connections], [1, 1]);
  });

  test('what it says is kept, not what the mail says', async () => {
    await using sink = await startSmtpSink({ answer: () => '550 no such user' });
    await using mailer = await openSmtpMailer({ host: '127.0.0.1', port: sink.port });
    const error = await mailer.send(newMail({ text: 'the live link' })).catch((thrown: MailError) => thrown);
    assert.ok(error instanceof MailError && error.message.includes('no such user'));
    assert.ok(!error.message.includes('the live link'));
  });
});

describe('signing in', () => {
  test('works, and is seen by ping', async () => {
    const { sent, pinged, caught } = await attempt({ credentials }, { credentials });
    assert.deepEqual([sent, pinged, caught[0]?.user], ['sent', 'ready', 'octavo']);
  });

  test('with a wrong password is a matter of configuration', async () => {
    const wrong = { ...credentials, password: 'wrong' };
    const { sent, pinged } = await attempt({ credentials }, { credentials: wrong });
    assert.deepEqual([sent, pinged], ['misconfigured EAUTH 535', 'misconfigured EAUTH 535']);
  });

  test('without a password is a matter of configuration', async () => {
    assert.equal((await attempt({ credentials })).sent, 'misconfigured EENVELOPE 530');
  });
});

describe('TLS', () => {
  test('is required of a server that is not on loopback', async () => {
    const { sent, pinged, caught } = await attempt({}, { host: elsewhere });
    assert.match(sent, /^misconfigured ETLS/);
    assert.match(pinged, /^misconfigured ETLS/);
    assert.equal(caught.length, 0);
  });

  test('is not required where insecure says so, nor on loopback', async () => {
    assert.equal((await attempt({}, { host: elsewhere, insecure: true })).sent, 'sent');
    assert.equal((await attempt({})).sent, 'sent');
  });

  test('needs a trusted certificate', async () => {
    const { sent, caught } = await attempt({ tls: 'on demand' }, { host: elsewhere });
    assert.equal(sent, 'misconfigured ESOCKET');
    assert.equal(caught.length, 0);
  });

  test('is used where it is offered', async () => {
    const { sent, caught } = await attempt({ tls: 'on demand' });
    assert.deepEqual([sent, caught[0]?.secure], ['sent', true]);
  });
});

describe('a server that', () => {
  test('is not there is unreachable', async () => {
    const port = await freePort();
    await using mailer = await openSmtpMailer({ host: '127.0.0.1', port });
    await assert.rejects(mailer.send(newMail()), withFault('unreachable'));
    await assert.rejects(mailer.ping(), withFault('unreachable'));
  });

  test('has no name is unreachable', async () => {
    await using mailer = await openSmtpMailer({ host: 'nowhere.invalid', port: 587 });
    await assert.rejects(mailer.send(newMail()), withFault('unreachable'));
  });

  test('hangs up at once is unreachable', async () => {
    const server = createServer((socket) => void socket.destroy()).listen(0, '127.0.0.1');
    await once(server, 'listening');
    await using mailer = await openSmtpMailer({
      host: '127.0.0.1',
      port: (server.address() as AddressInfo).port,
    });
    await assert.rejects(mailer.send(newMail()), withFault('unreachable'));
    server.close();
  });

  test('never finishes its reply is abandoned when the signal aborts', async () => {
    const { promise: never, resolve: end } = Promise.withResolvers<undefined>();
    await using sink = await startSmtpSink({ answer: (stage) => (stage === 'data' ? never : undefined) });
    await using mailer = await openSmtpMailer({ host: '127.0.0.1', port: sink.port });
    const sending = mailer.send(newMail(), { signal: AbortSignal.timeout(200) });
    await assert.rejects(sending, withFault('unreachable'));
    end(undefined);
  });

  test('never finishes its reply does not delay closing', async () => {
    const { promise: never, resolve: end } = Promise.withResolvers<undefined>();
    const { promise: asked, resolve: tellAsked } = Promise.withResolvers<void>();
    await using sink = await startSmtpSink({
      answer(stage) {
        if (stage !== 'data') return undefined;
        tellAsked();
        return never;
      },
    });
    const mailer = await openSmtpMailer({ host: '127.0.0.1', port: sink.port });
    const sending = assert.rejects(mailer.send(newMail()), withFault('unreachable'));
    await asked;
    await mailer.close({ abort: true });
    await sending;
    end(undefined);
  });

  test('is slow is waited for when closing', async () => {
    const { promise: held, resolve: letGo } = Promise.withResolvers<undefined>();
    await using sink = await startSmtpSink({ answer: (stage) => (stage === 'data' ? held : undefined) });
    const mailer = await openSmtpMailer({ host: '127.0.0.1', port: sink.port });
    const sending = mailer.send(newMail());
    const closing = mailer.close();
    letGo(undefined);
    await Promise.all([sending, closing]);
    assert.equal(sink.caught.length, 1);
  });
});

test('a few connections are kept open', async () => {
  await using sink = await startSmtpSink();
  await using mailer = await openSmtpMailer({ host: '127.0.0.1', port: sink.port });
  await Promise.all(Array.from({ length: 50 }, () => mailer.send(newMail())));
  assert.equal(sink.caught.length, 50);
  assert.ok(sink.connections <= 3, `${sink.connections} connections`);
});

function newMail(part: Partial<Mail> = {}): Mail {
  return {
    id: `${newId()}@example.org`,
    from: { name: 'Octavo', address: 'no-reply@example.org' },
    to: 'bob@example.org',
    subject: 'Sign in',
    text: 'https://example.org/',
    html: '<p>https://example.org/</p>',
    date: new Date('2026-03-01T10:00:00Z'),
    ...part,
  };
}

function withFault(fault: MailFault): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof MailError, String(error));
    assert.equal(error.fault, fault);
    return true;
  };
}
