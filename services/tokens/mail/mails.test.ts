import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { until } from '@octavo/testing';
import { startSmtpSink } from '@octavo/testing/engines';
import { startTokens, type TestTokens } from '../testing.ts';

function start(port: number): Promise<TestTokens> {
  return startTokens({
    environment: {
      EMAIL_VERIFICATION: 'optional',
      SMTP_HOST: '127.0.0.1',
      SMTP_PORT: String(port),
    },
  });
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

const addresses = (sink: { caught: readonly { to: readonly string[] }[] }) =>
  sink.caught.flatMap(({ to }) => to).sort();

test('a mail that the server defers is sent again later, and others do not wait for it', async () => {
  let isBusy = true;
  const answer = (stage: string, address: string) =>
    stage === 'rcpt' && address.startsWith('slow') && isBusy ? '451 try later' : undefined;
  await using sink = await startSmtpSink({ answer });
  await using service = await start(sink.port);
  await service.register('slow@example.com');
  await service.register('quick@example.com');
  await until(() => sink.caught.length === 1);
  await until(async () => (await service.metric('tokens_mail_tries_total{outcome="pending"}')) === 1);
  assert.deepEqual(addresses(sink), ['quick@example.com']);
  isBusy = false;
  service.clock.advance(10_000);
  await until(() => sink.caught.length === 2);
  assert.deepEqual(addresses(sink), ['quick@example.com', 'slow@example.com']);
  await until(async () => (await service.metric('tokens_mails')) === 0);
});

test('a mail that the server rejects is not tried again, nor one whose link has expired', async () => {
  const answer = (stage: string, address: string) => {
    if (stage !== 'rcpt') return undefined;
    return address.startsWith('gone') ? '550 no such user' : '451 try later';
  };
  await using sink = await startSmtpSink({ answer });
  await using service = await start(sink.port);
  await service.register('gone@example.com');
  await service.register('late@example.com');
  await until(async () => (await service.metric('tokens_mail_tries_total{outcome="pending"}')) === 1);
  assert.equal(await service.metric('tokens_mail_tries_total{outcome="failed"}'), 1);
  service.clock.advance(86_400_000);
  await until(async () => (await service.metric('tokens_mail_tries_total{outcome="failed"}')) === 2);
  assert.deepEqual([await service.metric('tokens_mails'), sink.caught.length], [0, 0]);
  assert.ok(!JSON.stringify(service.lines).includes('@example.com'), 'the log names no address');
});

test('mails wait while no mail server can be reached, each is then sent once, and requests do not wait', async () => {
  const port = await freePort();
  await using service = await start(port);
  for (const name of ['a', 'b', 'c', 'd', 'e']) await service.register(`${name}@example.com`);
  await until(() => service.lines.some(({ msg }) => String(msg).startsWith('mails are paused')));
  assert.equal(await service.metric('tokens_mails'), 5);
  await using sink = await startSmtpSink({ port });
  await until(() => service.lines.some(({ msg }) => msg === 'the mail server responds again'));
  service.clock.advance(60_000);
  await until(() => sink.caught.length >= 5);
  await until(async () => (await service.metric('tokens_mails')) === 0);
  assert.equal(new Set(addresses(sink)).size, 5);
  assert.equal(sink.caught.length, 5);
});

test('a service that stops ends the mail in delivery, and says how many are lost', async () => {
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  await using sink = await startSmtpSink({ hold: () => held });
  const service = await start(sink.port);
  for (let n = 0; n < 5; n++) await service.register(`user${n}@example.com`);
  await until(() => sink.caught.length === 3);
  const stopping = service[Symbol.asyncDispose]();
  await delay(50);
  release();
  await stopping;
  assert.equal(sink.caught.length, 3, 'nothing new was started');
  const lost = service.lines.find(({ msg }) => msg === 'mails that waited are lost');
  assert.equal(lost?.mails, 2);
});
