import assert from 'node:assert/strict';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { readConfig } from '@octavo/core';
import { startTestSystem } from '@octavo/octavo/testing';
import { testFolder } from '@octavo/testing';
import { gateway } from './service.ts';
import { assertError, castOf, Person } from './testing.ts';

describe('the key of the tokens', () => {
  test('must be long enough, and is required in production', () => {
    const read = (environment: Record<string, string>) => () => readConfig(gateway.settings, environment);
    assert.throws(
      read({ GATEWAY_JWT_SECRET: 'a'.repeat(31) }),
      /GATEWAY_JWT_SECRET must be at least 32 bytes/,
    );
    assert.throws(read({ NODE_ENV: 'production' }), /GATEWAY_JWT_SECRET is required/);
    assert.doesNotThrow(read({ GATEWAY_JWT_SECRET: 'a'.repeat(32), NODE_ENV: 'production' }));
    assert.throws(read({ MFA_ASSERTION: 'trust me' }), /MFA_ASSERTION must be one of header, signed/);
    assert.throws(read({ TRUST_PROXY: 'everybody' }), /TRUST_PROXY must be/);
  });

  test('is stored in a private file by default and survives a restart', async () => {
    const dataFolder = testFolder('gateway');
    const tokens = [];
    for (let start = 0; start < 2; start++) {
      await using system = await startTestSystem({ OCTAVO_DATA: dataFolder });
      const { alice } = await castOf(system);
      tokens.push(alice.token);
      for (const token of tokens) {
        assert.equal((await new Person(system.url, token).get('/posts')).status, 200);
      }
    }
    const file = join(dataFolder, 'gateway-jwt-secret');
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    assert.ok((await readFile(file, 'utf8')).trim().length >= 32);
  });
});

describe('X-Forwarded-For', () => {
  const guess = (stranger: Person, client: string) =>
    stranger.post('/auth/login', { username: 'editor', password: 'guess' }, { 'x-forwarded-for': client });

  async function exhaust(stranger: Person): Promise<void> {
    for (let count = 0; count < 10; count++) {
      assertError(await guess(stranger, '192.0.2.1'), 401, 'INVALID_CREDENTIALS');
    }
    assertError(await guess(stranger, '192.0.2.1'), 429, 'RATE_LIMITED');
  }

  test('is ignored by default', async () => {
    await using system = await startTestSystem();
    const stranger = new Person(system.url);
    await exhaust(stranger);
    assertError(await guess(stranger, '192.0.2.2'), 429, 'RATE_LIMITED');
  });

  test('names the client if the proxy is trusted', async () => {
    await using system = await startTestSystem({ TRUST_PROXY: '127.0.0.1' });
    const stranger = new Person(system.url);
    await exhaust(stranger);
    assertError(await guess(stranger, '192.0.2.2'), 401, 'INVALID_CREDENTIALS');
    assertError(await guess(stranger, '192.0.2.2, 192.0.2.1'), 429, 'RATE_LIMITED');
  });
});
