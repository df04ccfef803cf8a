import assert from 'node:assert/strict';
import { test } from 'node:test';
import { writesDuring } from '@octavo/testing';
import { sql } from 'kysely';
import { deleteExpiredRows } from '../cleanup.ts';
import {
  alice,
  bob,
  claimsOf,
  enrollApp,
  inTestMode,
  refused,
  startService,
  type World,
} from '../testing.ts';

await inTestMode((world) => {
  test('GET /me returns the user of the token and their sign-in methods', async (context) => {
    const service = await startService(context, world);
    const { access_token: token } = await service.signIn(alice);
    const { id, created_at, ...rest } = (await service.get('/me', token)).json;
    assert.equal(id, claimsOf(token).sub);
    assert.equal(created_at, new Date(service.clock.now()).toISOString());
    assert.deepEqual(rest, {
      email: alice,
      email_verified: true,
      totp: false,
      passkeys: 0,
      recovery_codes: 0,
    });
  });

  test('deleting an account deletes everything of the user, and the address can sign up again', async (context) => {
    const service = await startService(context, world);
    const { access_token: token, refresh_token } = await service.signIn(alice);
    const app = await enrollApp(service, alice, token);
    await service.post('/recovery-codes', undefined, token);
    const { token: link } = await service.requestLink(alice);
    await service.signIn(bob);
    refused(await service.call('DELETE', '/me'), 401, 'MISSING_TOKEN');
    assert.equal((await service.call('DELETE', '/me', { token })).status, 200);
    for (const each of [token, app.response.json.access_token]) {
      refused(await service.get('/me', each), 401, 'INVALID_TOKEN');
    }
    refused(await service.call('DELETE', '/me', { token }), 401, 'INVALID_TOKEN');
    refused(await service.post('/token/refresh', { refresh_token }), 401, 'INVALID_TOKEN');
    refused(await service.get(`/verify/magic?token=${link}`), 401, 'INVALID_TOKEN');
    const { kysely } = service.database;
    for (const table of ['totp', 'recovery_code', 'passkey', 'passkey_holder'] as const) {
      assert.deepEqual(await kysely.selectFrom(table).selectAll().execute(), [], table);
    }
    assert.equal((await kysely.selectFrom('user').selectAll().execute()).length, 1);
    const again = await service.signIn(alice);
    assert.notEqual(claimsOf(again.access_token).sub, claimsOf(token).sub);
    const kinds = (await service.mails(alice)).map(({ kind }) => kind);
    assert.ok(kinds.includes('security:account-deleted'));
  });

  test('an account with very many sessions is deleted while others write', async (context) => {
    const service = await startService(context, world);
    const { access_token: token } = await service.signIn(alice);
    const { kysely } = service.database;
    const user = claimsOf(token).sub;
    const numbers = sql`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)`;
    await sql`INSERT INTO session (id, user_id, amr, authenticated_at_ms, last_used_at_ms, expires_at_ms, generation, address, user_agent)
      ${numbers} SELECT 's' || i, ${sql.lit(user)}, '[]', 1, 1, 1, 1, '', '' FROM n`.execute(kysely);
    await sql`INSERT INTO refresh_token (hash, session_id, generation)
      ${numbers} SELECT 'h' || i, 's' || i, 1 FROM n`.execute(kysely);
    const deletion = service.call('DELETE', '/me', { token });
    const touch = () =>
      kysely.updateTable('totp_nobody').set({ failures: 0 }).where('bucket', '=', 1).execute();
    const writes = await writesDuring(deletion, touch);
    assert.ok(writes >= (service.database.dialect === 'sqlite' ? 8 : 1), `${writes} writes`);
    assert.equal((await deletion).status, 200);
    for (const table of ['user', 'session', 'refresh_token'] as const)
      assert.deepEqual(await kysely.selectFrom(table).selectAll().execute(), [], table);
  });

  test('tokens of an account whose deletion a crash cuts off are worth nothing', {
    skip: world.databaseUrl !== undefined && 'on PostgreSQL such a deletion has not happened',
  }, async (context) => {
    const service = await startService(context, world);
    const { access_token: token, refresh_token } = await service.signIn(alice);
    const { kysely } = service.database;
    await sql`INSERT INTO recovery_code (hash, user_id, created_at_ms)
      WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
      SELECT 'r' || i, ${claimsOf(token).sub}, 1 FROM n`.execute(kysely);
    for (const table of ['recovery_code', 'refresh_token'])
      await sql`CREATE TRIGGER ${sql.ref(`cut_${table}`)} BEFORE DELETE ON ${sql.table(table)}
        BEGIN SELECT raise(ABORT, 'power failure'); END`.execute(kysely);
    assert.equal((await service.call('DELETE', '/me', { token })).status, 200);
    refused(await service.get('/me', token), 401, 'INVALID_TOKEN');
    refused(await service.post('/token/refresh', { refresh_token }), 401, 'INVALID_TOKEN');
  });

  test('deleting requires a recent sign-in', async (context) => {
    const service = await startService(context, world);
    const { access_token: token } = await service.signIn(alice);
    service.clock.advance(600_001);
    refused(await service.call('DELETE', '/me', { token }), 401, 'REAUTH_REQUIRED');
    assert.equal((await service.get('/me', token)).status, 200);
  });

  testRecovery(world);
  testAudit(world);
  testCleanup(world);
});

function testRecovery(world: World): void {
  test('each recovery code signs in once, in any spelling, and new codes replace the old ones', async (context) => {
    const service = await startService(context, world);
    const { access_token: token } = await service.signIn(alice);
    const { codes } = (await service.post('/recovery-codes', undefined, token)).json;
    assert.equal(codes.length, 10);
    assert.equal(new Set(codes).size, 10);
    for (const code of codes) assert.match(code, /^([A-Z2-7]{4}-){3}[A-Z2-7]{4}$/);
    const use = (code: string, email = alice) => service.post('/recovery/verify', { email, code });
    const response = await use(codes[0]);
    assert.equal(response.status, 200, response.text);
    const { sub, amr } = claimsOf(response.json.access_token);
    assert.deepEqual([sub, amr], [claimsOf(token).sub, ['recovery']]);
    refused(await use(codes[0]), 401, 'INVALID_CODE');
    refused(await use(codes[1], bob), 401, 'INVALID_CODE');
    assert.equal((await use(codes[1].toLowerCase().replaceAll('-', ' '))).status, 200);
    assert.equal((await service.get('/me', token)).json.recovery_codes, 8);
    assert.equal((await service.post('/recovery-codes', undefined, token)).json.codes.length, 10);
    refused(await use(codes[2]), 401, 'INVALID_CODE');
    const rows = await service.database.kysely.selectFrom('recovery_code').selectAll().execute();
    assert.ok(!JSON.stringify(rows).includes(codes[2]));
  });

  test('of many sign-ins with one recovery code at once, on two processes, one succeeds', async (context) => {
    const service = await startService(context, world);
    const other = await startService(context, world, { beside: service });
    const { access_token: token } = await service.signIn(alice);
    const [code] = (await service.post('/recovery-codes', undefined, token)).json.codes;
    const responses = await Promise.all(
      Array.from({ length: 4 }, (_, index) =>
        (index % 2 ? service : other).post('/recovery/verify', { email: alice, code }),
      ),
    );
    assert.equal(responses.filter(({ status }) => status === 200).length, 1);
  });

  test('creating recovery codes requires a recent sign-in, and a malformed code is refused', async (context) => {
    const service = await startService(context, world);
    refused(await service.post('/recovery-codes'), 401, 'MISSING_TOKEN');
    const { access_token: token } = await service.signIn(alice);
    refused(await service.post('/recovery/verify', { email: alice, code: '' }), 400, 'INVALID_INPUT');
    refused(await service.post('/recovery/verify', { email: alice }), 400, 'INVALID_INPUT');
    service.clock.advance(600_001);
    refused(await service.post('/recovery-codes', undefined, token), 401, 'REAUTH_REQUIRED');
  });
}

function testAudit(world: World): void {
  test('audit events are stored, without e-mail addresses, tokens and codes', async (context) => {
    const service = await startService(context, world);
    const { access_token, refresh_token } = await service.signIn(alice);
    const { secret } = await enrollApp(service, alice, access_token);
    await service.post('/totp/verify', { email: alice, code: '000000' });
    await service.post('/token/refresh', { refresh_token });
    await service.call('DELETE', '/me', { token: access_token });
    const rows = await service.database.kysely.selectFrom('audit_event').selectAll().execute();
    const events = new Set(rows.map(({ event }) => event));
    for (const event of [
      'user_created',
      'authn_login_success',
      'totp_added',
      'authn_login_fail',
      'user_deleted',
    ]) {
      assert.ok(events.has(event), event);
    }
    const { sub } = claimsOf(access_token);
    assert.ok(
      rows.some(
        ({ event, user_id: userId, address }) => event === 'user_deleted' && userId === sub && address,
      ),
    );
    const kept = JSON.stringify(rows) + JSON.stringify(service.lines);
    for (const hidden of [alice, access_token, refresh_token, secret]) assert.ok(!kept.includes(hidden));
    const figures = (await service.get('/metrics')).text;
    assert.match(figures, /^passwordless_events_total\{event="authn_login_success"\} 2$/m);
  });
}

function testCleanup(world: World): void {
  test('expired rows are deleted, and others stay', async (context) => {
    const service = await startService(context, world);
    const { database, clock } = service;
    const day = 86_400_000;
    const { access_token: token } = await service.signIn(alice);
    await enrollApp(service, alice, token);
    await service.post('/totp/enroll', { email: bob });
    await service.post('/totp/verify', { email: bob, code: '000000' });
    const cleanUp = () => deleteExpiredRows({ database, clock, auditDays: 90 });
    const count = async (
      table: 'user' | 'session' | 'magic_link' | 'totp' | 'failed_attempt' | 'audit_event',
    ) => (await database.kysely.selectFrom(table).selectAll().execute()).length;
    const counts = async () => [
      await count('user'),
      await count('session'),
      await count('magic_link'),
      await count('totp'),
      await count('failed_attempt'),
    ];
    await cleanUp();
    assert.deepEqual(await counts(), [2, 2, 1, 2, 2]);
    clock.advance(day + 600_001);
    await cleanUp();
    assert.deepEqual(await counts(), [1, 2, 0, 1, 0]);
    clock.advance(8 * day);
    await cleanUp();
    assert.deepEqual(await counts(), [1, 0, 0, 1, 0]);
    clock.advance(30 * day);
    await cleanUp();
    assert.deepEqual(await counts(), [1, 0, 0, 1, 0]);
    assert.ok((await count('audit_event')) > 0);
    clock.advance(90 * day);
    await cleanUp();
    assert.equal(await count('audit_event'), 0);
    assert.equal(await count('user'), 1);
  });
}
