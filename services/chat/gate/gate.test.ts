import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { startChat } from '../testing.ts';
import { type ModelReply, startModel } from '../testing-model.ts';

const { publicKey, privateKey } = await generateKeyPair('ES256');
const jwks = createServer(async (_request, response) => {
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), kid: 'one', alg: 'ES256' }] }));
});
jwks.listen(0, '127.0.0.1');
await once(jwks, 'listening');
const secret = 'the secret of tokens, long enough for HS256';
const bySecret = await startChat({
  environment: {
    GATEWAY_AUTH: 'jwt',
    CHAT_JWT_SECRET: secret,
    CHAT_JWT_AUDIENCE: 'chat',
    CHAT_RATE_LIMIT: '12',
    SESSION_RATE_LIMIT: '2',
  },
});
const byKeys = await startChat({
  environment: {
    GATEWAY_AUTH: 'jwt',
    CHAT_JWKS_URL: `http://127.0.0.1:${(jwks.address() as AddressInfo).port}/jwks`,
  },
});
after(async () => {
  await bySecret[Symbol.asyncDispose]();
  await byKeys[Symbol.asyncDispose]();
  jwks.closeAllConnections();
  jwks.close();
});

interface TokenOptions {
  readonly sub?: string;
  readonly audience?: string;
  readonly lifetimeSeconds?: number;
  readonly key?: string;
}

function tokenOf({
  sub = 'alice',
  audience = 'chat',
  lifetimeSeconds = 60,
  key = secret,
}: TokenOptions = {}) {
  const now = Math.floor(bySecret.clock.now() / 1_000);
  return new SignJWT({})
    .setProtectedHeader({ alg: 'HS256' })
    .setSubject(sub)
    .setAudience(audience)
    .setExpirationTime(now + lifetimeSeconds)
    .sign(new TextEncoder().encode(key));
}

const list = async (chat: typeof bySecret, token: string) =>
  chat.send('GET', '/api/sessions', undefined, { authorization: `Bearer ${token}` });

test('a token is needed, for its audience, in its time, with the right key and algorithm', async () => {
  assert.equal((await list(bySecret, await tokenOf())).status, 200);
  const wrong = [
    tokenOf({ audience: 'other' }),
    tokenOf({ lifetimeSeconds: -60 }),
    tokenOf({ key: 'another secret, also long enough for it' }),
    tokenOf({ sub: '' }),
    'eyJhbGciOiJub25lIn0.eyJzdWIiOiJhbGljZSJ9.',
  ];
  for (const token of wrong) {
    const { status, json } = await list(bySecret, await token);
    assert.deepEqual([status, json.error.code], [401, 'unauthorized']);
  }
});

test('the keys of tokens come from an address', async () => {
  const expires = Math.floor(byKeys.clock.now() / 1_000) + 60;
  const signed = new SignJWT({}).setProtectedHeader({ alg: 'ES256', kid: 'one' }).setSubject('alice');
  assert.equal((await list(byKeys, await signed.setExpirationTime(expires).sign(privateKey))).status, 200);
  assert.equal((await list(byKeys, await tokenOf())).status, 401);
});

test('each token has limits of its own, and headers say what is left', async () => {
  const as = async (sub: string, path: string, body: object) =>
    bySecret.send('POST', path, body, { authorization: `Bearer ${await tokenOf({ sub })}` });
  const ask = () => as('bob', '/api/chat', { query: 'Anything?' });
  const first = await ask();
  assert.equal(first.headers.get('ratelimit-policy'), '"chat";q=12;w=60, "burst";q=10;w=50');
  assert.equal(first.headers.get('ratelimit'), '"chat";r=11;t=60, "burst";r=9;t=1');
  for (let asked = 1; asked < 10; asked++) assert.equal((await ask()).status, 200);
  const refused = await ask();
  assert.deepEqual([refused.status, refused.json.error.code], [429, 'rate_limited']);
  assert.equal(refused.headers.get('retry-after'), '5');
  assert.equal((await as('carol', '/api/chat', { query: 'Anything?' })).status, 200);
  const begun = await Promise.all([1, 2, 3].map(() => as('bob', '/api/session', {})));
  assert.deepEqual(begun.map(({ status }) => status).sort(), [201, 201, 429]);
  bySecret.clock.advance(5_000);
  assert.equal((await ask()).status, 200);
});

test('answers of a client are written a few at a time', async () => {
  await using model = await startModel();
  await using chat = await startChat({
    environment: {
      LLM_BASE_URL: model.url,
      LLM_MODEL: 'scripted',
      CHAT_GENERATIONS_MAX: '1',
    },
  });
  await chat.upload([{ name: 'a.txt', content: 'The ferry sails on Mondays.' }]);
  const begun: ModelReply[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  model.script = (answer) => {
    begun.push(answer.text('It sails on Mondays [1].'));
    if (begun.length === 1) resolve();
    else answer.end();
  };
  const ask = () => chat.send('POST', '/api/chat', { query: 'When does the ferry sail?' });
  const one = ask();
  await promise;
  const other = ask();
  assert.equal((await chat.send('GET', '/livez')).status, 200);
  assert.equal(begun.length, 1);
  begun[0]?.end();
  assert.deepEqual([(await one).status, (await other).status, begun.length], [200, 200, 2]);
});

test('settings that do not fit each other are refused', async () => {
  await assert.rejects(startChat({ environment: { GATEWAY_AUTH: 'api_key' } }), /CHAT_API_KEYS is required/);
  await assert.rejects(startChat({ environment: { GATEWAY_AUTH: 'jwt' } }), /CHAT_JWKS_URL is required/);
  await assert.rejects(
    startChat({ environment: { LLM_BASE_URL: 'http://127.0.0.1/v1' } }),
    /LLM_MODEL is required/,
  );
  await assert.rejects(
    startChat({ environment: { GATEWAY_AUTH: 'jwt', CHAT_JWT_SECRET: secret, CHAT_JWT_ALGORITHMS: 'none' } }),
    /none/,
  );
});
