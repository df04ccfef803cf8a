import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Subject } from '@octavo/protocols/authz/v1/authz';
import { errorOf, inTestMode, startAuthz, type TestAuthz, type World } from './testing.ts';

const password = 'correct horse';
const newPassword = 'battery staple';
const home = '192.0.2.1';

await inTestMode((world) => {
  test('changes the own password', async (context) => {
    const { client, clock, uid } = await startWithAlice(context, world);
    clock.advance(1_000);
    const { account } = await change(client, { uid });
    assert.equal(account?.passwordChangedAtMs, clock.now());
    assert.equal((await errorOf(signIn(client, password))).reason, 'INVALID_CREDENTIALS');
    assert.deepEqual((await signIn(client, newPassword)).account, account);
  });

  test('names what a new password cannot be, and what is missing', async (context) => {
    const { client, uid } = await startWithAlice(context, world);
    const malformed: [object, Record<string, string>][] = [
      [{ newPassword: '' }, { newPassword: 'is required' }],
      [{ newPassword: 'seven77' }, { newPassword: 'must be at least 8 characters' }],
      [{ newPassword: 'Password1' }, { newPassword: 'is one of the most common passwords' }],
      [{ newPassword: 'x'.repeat(1_025) }, { newPassword: 'must be at most 1024 characters' }],
      [{ newPassword: password }, { newPassword: 'must differ from the current password' }],
      [{ currentPassword: '' }, { currentPassword: 'is required' }],
      [{ currentPassword: 'x'.repeat(1_025) }, { currentPassword: 'must be at most 1024 characters' }],
    ];
    for (let round = 0; round < 3; round++) {
      for (const [part, fields] of malformed) {
        const error = await errorOf(change(client, { uid, ...part }));
        assert.deepEqual([error.code, error.fields], ['validation_failed', fields]);
      }
    }
    await change(client, { uid });
  });

  test('unknown and disabled accounts have no password to change', async (context) => {
    const { client, uid } = await startWithAlice(context, world);
    for (const unknown of [0, -1, 99, 2 ** 31]) {
      assert.equal((await errorOf(change(client, { uid: unknown }))).code, 'not_found');
    }
    await client.updateAccount({ username: 'alice', disabled: true });
    assert.equal((await errorOf(change(client, { uid }))).code, 'forbidden');
  });

  test('wrong current passwords are limited apart from sign-ins', async (context) => {
    const first = await startWithAlice(context, world);
    const second = await startAuthz(context, world, { beside: first });
    const { client, clock, uid } = first;
    const errors = await Promise.all(
      Array.from({ length: 30 }, (_, index) => {
        const at = index % 2 ? client : second.client;
        return errorOf(change(at, { uid, currentPassword: `guess ${index}` }));
      }),
    );
    const codes = Map.groupBy(errors, ({ code }) => code);
    assert.deepEqual([codes.get('unauthenticated')?.length, codes.get('rate_limited')?.length], [10, 20]);
    const limited = await errorOf(change(client, { uid }));
    assert.deepEqual([limited.code, limited.retryAfterSeconds], ['rate_limited', 300]);
    const enrollment = { uid, password, remoteAddress: home };
    assert.equal((await errorOf(client.enrollTotp(enrollment))).code, 'rate_limited');
    await signIn(client, password);
    await change(client, { uid, remoteAddress: '192.0.2.2' });
    clock.advance(5 * 60_000);
    await change(client, { uid, currentPassword: newPassword, newPassword: password });
  });

  test('failed sign-ins do not keep the owner from changing the password', async (context) => {
    const { client, uid } = await startWithAlice(context, world);
    const names = ['alice', String(uid), `\u0000${uid}`];
    for (const username of names) {
      for (let index = 0; index < 10; index++) {
        await errorOf(client.login({ username, password: 'wrong', remoteAddress: home }));
      }
    }
    await change(client, { uid });
  });

  test('of several changes at once, at two replicas, one succeeds', async (context) => {
    const first = await startWithAlice(context, world);
    const second = await startAuthz(context, world, { beside: first });
    const wanted = Array.from({ length: 8 }, (_, index) => `new password ${index}`);
    const results = await Promise.allSettled(
      wanted.map((text, index) =>
        change((index % 2 ? first : second).client, { uid: first.uid, newPassword: text }),
      ),
    );
    const winners = wanted.filter((_, index) => results[index]?.status === 'fulfilled');
    assert.equal(winners.length, 1);
    await signIn(first.client, winners[0] ?? '');
  });

  testTokens(world);
});

function testTokens(world: World): void {
  test('a changed password ends older tokens at once, those of the same second too', async (context) => {
    const { client, uid } = await startWithAlice(context, world);
    for (const [before, after] of [
      [password, newPassword],
      [newPassword, password],
    ] as const) {
      const old = await subjectOf(client, before);
      assert.equal(await reasonOf(client, old), '');
      const { account } = await change(client, { uid, currentPassword: before, newPassword: after });
      assert.equal(await reasonOf(client, old), 'TOKEN_STALE');
      const kept = { ...old, passwordChangedAtMs: account?.passwordChangedAtMs };
      assert.equal(await reasonOf(client, kept), '');
      assert.equal(await reasonOf(client, await subjectOf(client, after)), '');
    }
  });

  test('so does a password that an administrator sets, at another replica too', async (context) => {
    const first = await startWithAlice(context, world);
    const second = await startAuthz(context, world, { beside: first });
    const old = await subjectOf(first.client, password);
    await second.client.updateAccount({ username: 'alice', role: 'viewer', disabled: false });
    assert.equal(await reasonOf(first.client, old), '');
    await second.client.updateAccount({ username: 'alice', password });
    assert.equal(await reasonOf(first.client, old), 'TOKEN_STALE');
    const { policy, allowed, decisionId } = await decide(first.client, old);
    assert.deepEqual([policy, allowed], ['default-deny', false]);
    assert.match(decisionId, /^[0-9a-f-]{36}$/);
    assert.equal(await reasonOf(first.client, await subjectOf(first.client, password)), '');
  });

  test('a sign-in that was under way gets no token that outlives the change', async (context) => {
    const { client, uid } = await startWithAlice(context, world);
    const signIns = Array.from({ length: 12 }, () => subjectOf(client, password));
    const [subjects] = await Promise.all([Promise.allSettled(signIns), change(client, { uid })]);
    for (const subject of subjects) {
      if (subject.status === 'rejected') continue;
      assert.equal(await reasonOf(client, subject.value), 'TOKEN_STALE');
    }
  });

  test('a token without that claim is judged by its time, with 5 seconds of leeway', async (context) => {
    const { client, clock, uid } = await startWithAlice(context, world);
    clock.advance(60_999);
    await change(client, { uid });
    const subject = { uid, username: 'Alice', role: 'editor', mfaVerified: false };
    const changedAt = Math.floor(clock.now() / 1_000);
    const ages: [number | undefined, string][] = [
      [undefined, ''],
      [changedAt + 1, ''],
      [changedAt, ''],
      [changedAt - 5, ''],
      [changedAt - 6, 'TOKEN_STALE'],
      [0, 'TOKEN_STALE'],
      [-1, 'TOKEN_STALE'],
    ];
    for (const [issuedAt, reason] of ages) {
      assert.equal(await reasonOf(client, { ...subject, issuedAt }), reason, `issued at ${issuedAt}`);
    }
  });

  test('a disabled account and another name are denied for that, not for the token', async (context) => {
    const { client } = await startWithAlice(context, world);
    const old = await subjectOf(client, password);
    await client.updateAccount({ username: 'alice', password: newPassword });
    assert.equal(await reasonOf(client, { ...old, username: 'bob' }), 'ROLE');
    await client.updateAccount({ username: 'alice', disabled: true });
    assert.equal(await reasonOf(client, old), 'ROLE');
  });

  test('changes of one moment, or after the clock was set back, differ', async (context) => {
    const { client, clock } = await startWithAlice(context, world);
    const seen = new Set<number | undefined>();
    for (const advanceMs of [0, 0, -60_000, 30_000, 60_000]) {
      clock.advance(advanceMs);
      const { account } = await client.updateAccount({ username: 'alice', password: newPassword });
      seen.add(account?.passwordChangedAtMs);
    }
    assert.equal(seen.size, 5);
    assert.deepEqual([...seen], [...seen].toSorted());
  });

  test('neither a sign-in nor a hash of another cost ends tokens', async (context) => {
    const first = await startWithAlice(context, world);
    const old = await subjectOf(first.client, password);
    const second = await startAuthz(context, world, { beside: first, environment: { ARGON2_PASSES: '2' } });
    first.clock.advance(60_000);
    const renewed = await subjectOf(second.client, password);
    assert.equal(renewed.passwordChangedAtMs, old.passwordChangedAtMs);
    assert.equal(await reasonOf(second.client, old), '');
  });

  test('a demo password that the settings change ends tokens, the same one does not', async (context) => {
    const environment = { DEMO_EDITOR_PASSWORD: 'editor password' };
    const first = await startAuthz(context, world, { environment });
    const old = await subjectOf(first.client, 'editor password', 'editor');
    await startAuthz(context, world, { beside: first, environment });
    assert.equal(await reasonOf(first.client, old), '');
    const changed = { DEMO_EDITOR_PASSWORD: 'another password' };
    await startAuthz(context, world, { beside: first, environment: changed });
    assert.equal(await reasonOf(first.client, old), 'TOKEN_STALE');
  });

  test('stale tokens are counted and logged', async (context) => {
    const { client, metrics, logs } = await startWithAlice(context, world);
    const old = await subjectOf(client, password);
    await client.updateAccount({ username: 'alice', password: newPassword });
    const { decisionId } = await decide(client, old);
    const line = logs.lines.find((entry) => entry.decisionId === decisionId);
    assert.equal(line?.outcome, 'token_stale');
    const shown = await metrics.getSingleMetricAsString('authz_decisions_total');
    assert.match(shown, /\{policy="default-deny",outcome="token_stale"\} 1/);
    assert.doesNotMatch(JSON.stringify(logs.lines), /correct horse|battery staple/);
  });
}

async function startWithAlice(context: TestContext, world: World) {
  const started = await startAuthz(context, world);
  const { account } = await started.client.createAccount({ username: 'Alice', password, role: 'editor' });
  return { ...started, uid: account?.uid ?? 0 };
}

function change(
  client: TestAuthz['client'],
  part: { uid: number; currentPassword?: string; newPassword?: string; remoteAddress?: string },
) {
  return client.changePassword({ currentPassword: password, newPassword, remoteAddress: home, ...part });
}

function signIn(client: TestAuthz['client'], given: string, username = 'alice') {
  return client.login({ username, password: given, remoteAddress: home });
}

/** The subject of a token from a sign-in. */
async function subjectOf(client: TestAuthz['client'], given: string, name = 'alice'): Promise<Subject> {
  const { account } = await signIn(client, given, name);
  const { uid = 0, username = '', role = '', passwordChangedAtMs } = account ?? {};
  return { uid, username, role, mfaVerified: false, passwordChangedAtMs };
}

function decide(client: TestAuthz['client'], subject: Subject) {
  return client.decide({ subject, resourceType: 'post', action: 'read' });
}

async function reasonOf(client: TestAuthz['client'], subject: Subject): Promise<string> {
  return (await decide(client, subject)).reason;
}
