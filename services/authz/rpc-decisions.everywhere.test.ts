import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { DecideRequest } from '@octavo/protocols/authz/v1/authz';
import { actions, resourceTypes, roles } from '@octavo/protocols/authz/v1/permissions';
import { testFolder } from '@octavo/testing';
import fc from 'fast-check';
import { inTestMode, startAuthz } from './testing.ts';

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

await inTestMode((world) => {
  test('every combination gets what the specification says', async (context) => {
    const { client } = await startAuthz(context, world);
    for (const request of everyRequest()) {
      const { decisionId, ...decision } = await client.decide(request);
      assert.match(decisionId, uuid);
      assert.deepEqual(decision, specified(request), JSON.stringify(request));
    }
  });

  test('a disabled account may do nothing, an enabled one again what it could', async (context) => {
    const { client } = await startAuthz(context, world);
    const { account } = await client.createAccount({
      username: 'alice',
      password: 'correct horse',
      role: 'admin',
    });
    const subject = { uid: account?.uid ?? 0, username: 'alice', role: 'admin', mfaVerified: true };
    const request = { subject, resourceType: 'post', action: 'read' };
    assert.equal((await client.decide(request)).allowed, true);
    await client.updateAccount({ username: 'alice', disabled: true });
    const { allowed, reason, policy } = await client.decide(request);
    assert.deepEqual({ allowed, reason, policy }, { allowed: false, reason: 'ROLE', policy: 'default-deny' });
    await client.updateAccount({ username: 'alice', disabled: false });
    assert.equal((await client.decide(request)).allowed, true);
  });

  test('a changed role takes effect at once, also in another replica, whatever the token claims', async (context) => {
    const first = await startAuthz(context, world);
    const second = await startAuthz(context, world, { beside: first });
    await first.client.createAccount({ username: 'bob', password: 'correct horse', role: 'editor' });
    const subject = { uid: 4, username: 'bob', role: 'editor', mfaVerified: false };
    const request = { subject, resourceType: 'post', action: 'write' };
    assert.equal((await second.client.decide(request)).allowed, true);
    await first.client.updateAccount({ username: 'bob', role: 'viewer' });
    assert.equal((await second.client.decide(request)).allowed, false);
  });

  test('another user, an unknown uid and no subject at all are denied', async (context) => {
    const { client } = await startAuthz(context, world);
    const admin = { uid: 1, username: 'admin', role: 'admin', mfaVerified: true };
    const strangers = [
      undefined,
      { ...admin, uid: 2 },
      { ...admin, username: 'charlie' },
      { ...admin, username: 'Admin' },
      { ...admin, username: '' },
      ...[0, -1, 99, 2 ** 31, Number.MAX_SAFE_INTEGER].map((uid) => ({ ...admin, uid })),
    ];
    for (const subject of strangers) {
      const { allowed, reason, policy } = await client.decide({
        subject,
        resourceType: 'post',
        action: 'read',
      });
      const denied = { allowed: false, reason: 'ROLE', policy: 'default-deny' };
      assert.deepEqual({ allowed, reason, policy }, denied, JSON.stringify(subject));
    }
  });

  test('words that the policies do not know are denied to everybody', async (context) => {
    const { client } = await startAuthz(context, world);
    const subject = { uid: 1, username: 'admin', role: 'admin', mfaVerified: true };
    const word = fc.oneof(fc.constantFrom('', 'Post', 'POST', 'admin ', '*', '__proto__'), fc.string());
    await fc.assert(
      fc.asyncProperty(word, word, async (resourceType, action) => {
        fc.pre(!isKnown(resourceType) || !isKnown(action));
        return !(await client.decide({ subject, resourceType, action })).allowed;
      }),
      { numRuns: 50 },
    );
  });

  test('each decision is logged and counted under its policy', async (context) => {
    const { client, logs, metrics } = await startAuthz(context, world);
    const subject = { uid: 2, username: 'editor', role: 'editor', mfaVerified: false };
    const { decisionId } = await client.decide({ subject, resourceType: 'post', action: 'delete' });
    await client.decide({ subject, resourceType: 'post', action: 'read' });
    await client.decide({ subject, resourceType: 'admin', action: 'read' });

    const [line] = logs.lines.filter((entry) => entry.decisionId === decisionId);
    assert.equal(line?.msg, 'access decision');
    assert.deepEqual(line?.subject, { uid: 2, username: 'editor', role: 'editor', mfaVerified: false });
    assert.deepEqual(
      [line?.resource, line?.action, line?.outcome, line?.policy],
      ['post', 'delete', 'mfa_required', 'editor-delete-mfa'],
    );
    const text = await metrics.getSingleMetricAsString('authz_decisions_total');
    assert.match(text, /\{policy="editor-delete-mfa",outcome="mfa_required"\} 1/);
    assert.match(text, /\{policy="editor-read-write",outcome="allowed"\} 1/);
    assert.match(text, /\{policy="default-deny",outcome="denied"\} 1/);
  });

  test('what cannot be evaluated is denied, and logged', async (context) => {
    const folder = join(testFolder('authz'), 'policies');
    mkdirSync(folder);
    const failing = 'when { principal.uid + 9223372036854775807 > 0 }';
    writeFileSync(
      join(folder, 'own.cedar'),
      `@id("all")\npermit (principal, action, resource);\n@id("broken")\nforbid (principal, action, resource) ${failing};`,
    );
    const { client, logs } = await startAuthz(context, world, { environment: { AUTHZ_POLICIES: folder } });
    const subject = { uid: 1, username: 'admin', role: 'admin', mfaVerified: false };
    const { allowed, policy } = await client.decide({ subject, resourceType: 'post', action: 'read' });
    assert.deepEqual({ allowed, policy }, { allowed: false, policy: 'default-deny' });
    assert.ok(
      logs.lines.some((entry) => entry.level === 'error' && /could not be evaluated/.test(String(entry.msg))),
    );
  });
});

function* everyRequest(): Generator<DecideRequest & { subject: { role: string; mfaVerified: boolean } }> {
  for (const [index, role] of roles.entries())
    for (const resourceType of resourceTypes)
      for (const action of actions)
        for (const mfaVerified of [false, true])
          yield { subject: { uid: index + 1, username: role, role, mfaVerified }, resourceType, action };
}

/** The role table of the specification, in other words than the policies'. */
function specified({
  subject,
  resourceType,
  action,
}: ReturnType<typeof everyRequest> extends Generator<infer R> ? R : never) {
  const allowedBy = (policy: string) => ({ allowed: true, reason: '', policy });
  const deniedBy = (reason: string, policy: string) => ({ allowed: false, reason, policy });
  if (subject.role === 'admin') return allowedBy('admin-full-access');
  if (resourceType === 'admin') return deniedBy('ROLE', 'default-deny');
  if (subject.role === 'viewer') {
    return action === 'read' ? allowedBy('viewer-read') : deniedBy('ROLE', 'default-deny');
  }
  if (action !== 'delete') return allowedBy('editor-read-write');
  return subject.mfaVerified ? allowedBy('editor-delete-mfa') : deniedBy('MFA_REQUIRED', 'editor-delete-mfa');
}

function isKnown(word: string): boolean {
  return [...resourceTypes, ...actions].some((known) => known === word);
}
