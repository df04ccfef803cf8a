import assert from 'node:assert/strict';
import { test } from 'node:test';
import cookies from '@fastify/cookie';
import Fastify from 'fastify';
import { FakeClock } from '../base/clock.ts';
import { createSessionCookie } from './session-cookie.ts';

const secret = 'a secret of more than thirty-two bytes';

function site(clock = new FakeClock(), key = secret, name = 'site') {
  const cookie = createSessionCookie<{ uid: number }>({ name, secret: key, maxAgeSeconds: 60, clock });
  const app = Fastify({ trustProxy: true });
  app.register(cookies);
  app.get('/write', (_request, reply) => {
    cookie.write(reply, { uid: 7 });
    reply.send();
  });
  app.get('/clear', (_request, reply) => {
    cookie.clear(reply);
    reply.send();
  });
  app.get('/read', (request, reply) => reply.send({ value: cookie.read(request) ?? null }));
  const write = async (headers = {}) => {
    const reply = await app.inject({ url: '/write', headers });
    return String(reply.headers['set-cookie']);
  };
  const read = async (given: string, headers = {}) => {
    const reply = await app.inject({ url: '/read', headers: { cookie: given, ...headers } });
    return reply.json().value;
  };
  return { app, clock, write, read };
}

function pairOf(setCookie: string): string {
  return setCookie.split(';')[0] ?? '';
}

test('a value comes back until it is too old', async () => {
  const { clock, write, read } = site();
  const pair = pairOf(await write());
  assert.deepEqual(await read(`other=1; ${pair}`), { uid: 7 });
  clock.advance(59_999);
  assert.deepEqual(await read(pair), { uid: 7 });
  clock.advance(1);
  assert.equal(await read(pair), null);
});

test('the cookie is out of reach of scripts and other sites, and of plain HTTP where there is HTTPS', async () => {
  const { write, read } = site();
  assert.match(await write(), /^site=[\w-]+; Max-Age=60; Path=\/; HttpOnly; SameSite=Strict$/);
  const https = { 'x-forwarded-proto': 'https' };
  const secure = await write(https);
  assert.match(secure, /^__Host-site=[\w-]+; Max-Age=60; Path=\/; HttpOnly; Secure; SameSite=Strict$/);
  assert.deepEqual(await read(pairOf(secure), https), { uid: 7 });
  assert.equal(await read(pairOf(await write()), https), null);
});

test('the cookie cannot be read, and each one is encrypted differently', async () => {
  const { write } = site();
  const one = pairOf(await write()).slice('site='.length);
  assert.notEqual(pairOf(await write()), `site=${one}`);
  assert.doesNotMatch(Buffer.from(one, 'base64url').toString('latin1'), /uid/);
});

test('a cookie that is missing, malformed, changed, or encrypted for another gives nothing', async () => {
  const { write, read } = site();
  const pair = pairOf(await write());
  const changed = `${pair.slice(0, -2)}${pair.endsWith('A') ? 'BB' : 'AA'}`;
  const foreign = pairOf(await site(new FakeClock(), 'another secret of thirty-two bytes!').write());
  const otherName = pairOf(await site(new FakeClock(), secret, 'other').write()).replace('other=', 'site=');
  for (const given of [
    '',
    'site=',
    'site=x',
    'site=%',
    'site',
    changed,
    foreign,
    otherName,
    pair.slice(0, 30),
  ]) {
    assert.equal(await read(given), null, given);
  }
});

test('clearing makes the browser forget it', async () => {
  const { app } = site();
  const reply = await app.inject('/clear');
  assert.equal(reply.headers['set-cookie'], 'site=; Max-Age=0; Path=/; HttpOnly; SameSite=Strict');
});
