import assert from 'node:assert/strict';
import { cpSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { testFolder } from '@octavo/testing';
import { shippedPolicies } from './decisions/policy-files.ts';
import { inTestMode, startAuthz, type World } from './testing.ts';

const editor = { uid: 2, username: 'editor', role: 'editor', mfaVerified: false };
const deletion = { subject: editor, resourceType: 'post', action: 'delete' };

await inTestMode((world) => {
  test('changed policies are in force without a restart; broken ones change nothing', async (context) => {
    const folder = join(testFolder('authz'), 'policies');
    cpSync(shippedPolicies, folder, { recursive: true });
    const started = await startAuthz(context, world, { environment: { AUTHZ_POLICIES: folder } });
    const lenient = '@id("editor-delete")\npermit (principal in Role::"editor", action, resource);';

    writeFileSync(join(folder, 'lenient.cedar'), lenient);
    await started.logs.told('access policies changed');
    const { allowed, policy } = await started.client.decide(deletion);
    assert.deepEqual({ allowed, policy }, { allowed: true, policy: 'editor-delete' });

    writeFileSync(join(folder, 'lenient.cedar'), 'permit (');
    await started.logs.told('changed access policies are invalid; the previous policies stay in force');
    assert.equal((await started.client.decide(deletion)).policy, 'editor-delete');

    rmSync(join(folder, 'lenient.cedar'));
    await started.logs.told('access policies changed', 2);
    assert.equal((await started.client.decide(deletion)).reason, 'MFA_REQUIRED');
    const text = await started.metrics.getSingleMetricAsString('authz_policy_reloads_total');
    assert.match(text, /\{outcome="ok"\} 2/);
    assert.match(text, /\{outcome="refused"\} 1/);
  });

  test('does not start with policies that are not sound', async (context) => {
    const folder = testFolder('authz');
    writeFileSync(
      join(folder, 'own.cedar'),
      '@id("x")\npermit (principal in Role::"root", action, resource);',
    );
    const start = startAuthz(context, world, { environment: { AUTHZ_POLICIES: folder } });
    await assert.rejects(start, { reason: 'CONFIG' });
  });

  testListening({ ...world, remote: true });
});

function testListening(world: World): void {
  test('answers probes where it listens', async (context) => {
    const { running } = await startAuthz(context, world);
    assert.equal((await fetch(`${running.url}/health`)).status, 200);
    const readiness = await fetch(`${running.url}/readiness`);
    assert.deepEqual(
      [readiness.status, await readiness.json()],
      [200, { status: 'ready', checks: { database: 'ok' } }],
    );
    assert.match(await (await fetch(`${running.url}/metrics`)).text(), /^# HELP authz_decisions_total /m);
  });

  test('takes calls from those who have the token only', async (context) => {
    const { running, client } = await startAuthz(context, world, {
      environment: { RPC_TOKEN: 'shared secret' },
    });
    assert.equal((await client.decide(deletion)).reason, 'MFA_REQUIRED');
    const call = (headers: Record<string, string>) =>
      fetch(`${running.url}/authz.v1.AuthService/Decide`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: '{}',
      });
    assert.equal((await call({})).status, 401);
    assert.equal((await call({ authorization: 'Bearer another' })).status, 401);
    assert.equal((await call({ authorization: 'Bearer shared secret' })).status, 200);
  });
}
