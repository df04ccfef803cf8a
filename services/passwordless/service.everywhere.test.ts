import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { readConfig } from '@octavo/core';
import { silentLog } from '@octavo/core/log';
import { backupDatabase, restoreDatabase } from '@octavo/data';
import { appCode } from '@octavo/testing/sign-in';
import { Registry } from 'prom-client';
import { loadDemo, passwordless } from './service.ts';
import { alice, enrollApp, inTestMode, refused, secret, startService } from './testing.ts';

await inTestMode((world) => {
  test('starts, becomes ready and responds to probes', async (context) => {
    const service = await startService(context, world);
    assert.deepEqual((await service.get('/health')).json, { status: 'ok' });
    const readiness = await service.get('/readiness');
    assert.equal(readiness.status, 200, readiness.text);
    assert.deepEqual(readiness.json.checks, { database: 'ok' });
  });

  test('users, secrets and tokens survive a restart', async (context) => {
    // Without a configured secret, the generated one must survive.
    const environment = { PASSWORDLESS_JWT_SECRET: '' };
    const first = await startService(context, world, { environment });
    const { secret, response } = await enrollApp(first, alice);
    const { access_token: token, refresh_token } = response.json;
    const again = await startService(context, world, { environment, beside: first });
    assert.equal((await again.get('/me', token)).status, 200);
    assert.equal((await again.post('/token/refresh', { refresh_token })).status, 200);
    assert.match(secret, /^[A-Z2-7]{32}$/);
    const other = await startService(context, world, { beside: first });
    refused(await other.get('/me', token), 401, 'INVALID_TOKEN');
  });

  test('two processes share the limits of accounts and mailboxes', async (context) => {
    const environment = {
      PASSWORDLESS_LIMIT_MAGIC_PER_IP: '4',
      PASSWORDLESS_LIMIT_MAGIC_PER_ADDRESS: '3',
      PASSWORDLESS_LIMIT_ENROLL_PER_IP: '3',
      PASSWORDLESS_LIMIT_VERIFY_PER_IP: '6',
    };
    const one = await startService(context, world, { environment });
    const other = await startService(context, world, { environment, beside: one });
    const split = async (count: number, path: string, bodyOf: (index: number) => object) => {
      const statuses: number[] = [];
      for (let index = 0; index < count; index++)
        statuses.push((await (index % 2 ? other : one).post(path, bodyOf(index))).status);
      return statuses;
    };
    const repeat = (count: number, status: number) => Array<number>(count).fill(status);
    await split(5, '/request/magic', () => ({ email: alice }));
    await split(3, '/request/magic', (index) => ({ email: `user${index}@example.com` }));
    const sent = (await one.mails()).map(({ to }) => to);
    assert.deepEqual(sent.toSorted(), [alice, alice, alice, 'user0@example.com']);
    const guesses = await split(7, '/recovery/verify', () => ({ email: alice, code: 'AAAA' }));
    assert.deepEqual(guesses, [...repeat(6, 401), 429]);
    const enrolled = await split(4, '/totp/enroll', (index) => ({ email: `user${index}@example.com` }));
    assert.deepEqual(enrolled, [...repeat(3, 200), 429]);
    one.clock.advance(5 * 60_000);
    const codes = await split(6, '/totp/verify', () => ({ email: alice, code: '000000' }));
    assert.deepEqual(codes, [...repeat(5, 401), 429]);
  });

  test('demo users have sign-ins of the last 90 days, once, and get no mail', async (context) => {
    const service = await startService(context, world);
    const { clock, database, dataFolder } = service;
    await service.signIn('bela@example.com');
    const mailsBefore = (await service.mails()).length;
    const load = () => {
      const settings = { DATABASE_URL: world.databaseUrl, PASSWORDLESS_JWT_SECRET: secret };
      const metrics = new Registry();
      const where = {
        log: silentLog,
        clock,
        dataFolder,
        metrics,
        environment: 'test' as const,
        host: '127.0.0.1',
        port: 0,
      };
      return loadDemo(readConfig(passwordless.settings, settings), where);
    };
    assert.deepEqual([await load(), await load()], [15, 0], 'who was there already stays as they are');
    const users = await database.kysely.selectFrom('user').selectAll().execute();
    assert.equal(users.length, 16);
    const daysAgo = users.map(({ created_at_ms: at }) => Math.floor((clock.now() - at) / 86_400_000));
    assert.ok(Math.max(...daysAgo) >= 85 && new Set(daysAgo).size >= 12, String(daysAgo));
    const events = await database.kysely.selectFrom('audit_event').select('at_ms').execute();
    const hours = new Set(events.map(({ at_ms: at }) => Math.floor(at / 3_600_000) % 24));
    assert.ok(events.length > 200 && hours.size >= 12 && events.every(({ at_ms: at }) => at <= clock.now()));
    assert.equal((await service.mails()).length, mailsBefore);
    const { access_token: token } = await service.signIn('ada@example.com');
    const { sessions } = (await service.get('/sessions', token)).json;
    assert.ok(sessions.length > 3, 'the sessions that did not expire');
  });

  // PostgreSQL is backed up by its own pg_dump.
  if (world.databaseUrl !== undefined) return;
  test('a backup taken while serving restores all users', async (context) => {
    const service = await startService(context, world);
    const pair = await service.signIn(alice);
    const { access_token: token, refresh_token } = pair;
    const { secret } = await enrollApp(service, alice, token);
    const file = join(service.dataFolder, 'backup');
    await backupDatabase(service.databaseOptions, file);
    const { kysely } = service.database;
    const users = await kysely.selectFrom('user').selectAll().execute();
    assert.equal((await service.call('DELETE', '/me', { token })).status, 200);
    await service[Symbol.asyncDispose]();
    await restoreDatabase({ ...service.databaseOptions, file, overwrite: true });
    const again = await startService(context, world, { beside: service });
    assert.deepEqual(await again.database.kysely.selectFrom('user').selectAll().execute(), users);
    assert.equal((await again.post('/token/refresh', { refresh_token })).status, 200);
    again.clock.advance(30_000);
    const code = appCode(secret, again.clock);
    assert.equal((await again.post('/totp/verify', { email: alice, code })).status, 200);
  });
});
