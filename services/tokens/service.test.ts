import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { readConfig } from '@octavo/core';
import { testFolder } from '@octavo/testing';
import { tokens } from './service.ts';
import { assertError, password, startTokens } from './testing.ts';

const email = 'alice@example.com';

test('in production without keys it starts, reports it, and registers no user', async () => {
  await using service = await startTokens({ nodeEnv: 'production' });
  assert.ok(service.lines.some(({ level }) => level === 'fatal'));
  assert.equal((await service.get('/health')).status, 200);
  assert.equal((await service.get('/readiness')).status, 503);
  const body = { email, password };
  assertError(await service.post('/auth/register', body), 500, 'MISSING_SECRET');
  assertError(await service.post('/auth/login', body), 500, 'MISSING_SECRET');
  assertError(await service.post('/auth/refresh', { refreshToken: 'x' }), 500, 'MISSING_SECRET');
  assertError(await service.get('/auth/me', 'x'), 500, 'MISSING_SECRET');
  assertError(await service.get('/auth/me'), 401, 'MISSING_TOKEN');
  assertError(await service.post('/auth/register', {}), 400, 'INVALID_INPUT');
  assert.equal(await service.metric('tokens_users'), 0);
});

test('one key of two is treated as none', async () => {
  const key = 'the key of the tests, which is long enough';
  await using service = await startTokens({ environment: { JWT_ACCESS_SECRET: key }, nodeEnv: 'production' });
  assertError(await service.post('/auth/register', { email, password }), 500, 'MISSING_SECRET');
  await using whole = await startTokens({
    environment: { JWT_ACCESS_SECRET: key, JWT_REFRESH_SECRET: `${key}!` },
    nodeEnv: 'production',
  });
  await whole.register(email);
  assert.equal((await whole.get('/readiness')).status, 200);
});

test('outside production keys are random at each start', async () => {
  const none = { JWT_ACCESS_SECRET: '', JWT_REFRESH_SECRET: '' };
  await using one = await startTokens({ environment: none });
  await using other = await startTokens({ environment: none });
  const { accessToken } = await one.register(email);
  assert.equal((await one.get('/auth/me', accessToken)).status, 200);
  assertError(await other.get('/auth/me', accessToken), 401, 'INVALID_TOKEN');
});

test('short keys give a warning, or an error with STRICT_SECRETS', async () => {
  const short = { JWT_ACCESS_SECRET: 'short', JWT_REFRESH_SECRET: 'short too' };
  await using service = await startTokens({ environment: short });
  await service.register(email);
  assert.ok(service.lines.some(({ level, short: names }) => level === 'warn' && names));
  await assert.rejects(
    startTokens({ environment: { ...short, STRICT_SECRETS: '1' } }),
    /JWT_ACCESS_SECRET must be at least 32 bytes/,
  );
});

test('a previous key is checked like the one in use', async () => {
  for (const name of ['JWT_ACCESS_SECRET_PREVIOUS', 'JWT_REFRESH_SECRET_PREVIOUS']) {
    await using service = await startTokens({ environment: { [name]: 'short' } });
    const warned = service.lines.some(({ short }) => Array.isArray(short) && short.includes(name));
    assert.ok(warned, name);
    await assert.rejects(
      startTokens({ environment: { [name]: 'short', STRICT_SECRETS: '1' } }),
      new RegExp(`${name} must be at least 32 bytes`),
    );
  }
});

test('invalid settings are named in the error', async () => {
  await assert.rejects(startTokens({ environment: { TRUST_PROXY: 'everybody' } }), /TRUST_PROXY/);
  await assert.rejects(
    startTokens({ environment: { BREACHED_PASSWORDS_FILE: '/nowhere/at/all' } }),
    /BREACHED_PASSWORDS_FILE/,
  );
  await assert.rejects(
    startTokens({ environment: { ACCESS_TOKEN_TTL_SECONDS: 'soon' } }),
    /ACCESS_TOKEN_TTL_SECONDS/,
  );
});

test('secrets can be read from files', async () => {
  const folder = testFolder('tokens');
  const file = join(folder, 'access');
  await writeFile(file, 'from a file\n');
  const config = readConfig(tokens.settings, { JWT_ACCESS_SECRET_FILE: file });
  assert.equal(config.JWT_ACCESS_SECRET, 'from a file');
});

test('breached passwords are rejected when there is a file of them', async () => {
  const known = Array.from({ length: 500 }, (_, index) => `known to all ${index}`);
  const sums = known.map((each) => hash('sha1', each, 'hex').toUpperCase()).sort();
  const folder = testFolder('tokens');
  const files = {
    full: sums.map((sum, index) => `${sum}:${index}\r\n`).join(''),
    cut: sums.map((sum) => sum.slice(0, 16)).join('\n'),
  };
  for (const [name, text] of Object.entries(files)) {
    const file = join(folder, name);
    await writeFile(file, text);
    await using service = await startTokens({ environment: { BREACHED_PASSWORDS_FILE: file } });
    for (const each of [...known.slice(0, 20), ...known.slice(-20)]) {
      assertError(await service.post('/auth/register', { email, password: each }), 400, 'WEAK_PASSWORD');
    }
    for (let index = 0; index < 40; index++)
      await service.register(`u${index}@example.com`, `not known ${index}`);
  }
});

test('two instances run side by side', async () => {
  await using one = await startTokens();
  await using other = await startTokens();
  await one.register(email);
  assertError(await other.post('/auth/login', { email, password }), 401, 'INVALID_CREDENTIALS');
});
