import assert from 'node:assert/strict';
import { cpSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { AppError } from '@octavo/core';
import { testFolder } from '@octavo/testing';
import type { AccessQuery } from './access.ts';
import { Policies } from './policies.ts';
import { shippedPolicies } from './policy-files.ts';

const query: AccessQuery = {
  uid: 4,
  username: 'alice',
  role: 'viewer',
  mfaVerified: false,
  resourceType: 'post',
  action: 'read',
};

test('the shipped policies are valid and have the ids of the specification', async () => {
  using policies = await Policies.open(shippedPolicies);
  assert.deepEqual(policies.ids.sort(), [
    'admin-full-access',
    'editor-delete-mfa',
    'editor-read-write',
    'viewer-read',
  ]);
  assert.deepEqual(policies.warnings, []);
  assert.deepEqual(policies.evaluate(query), { allowed: true, policy: 'viewer-read' });
  assert.deepEqual(policies.evaluate({ ...query, action: 'write' }), {
    allowed: false,
    policy: 'default-deny',
  });
});

const unsound: Record<string, { text: string; problem: RegExp }> = {
  'text that is not a policy': {
    text: '\n@id("x")\npermit (principal, action resource);',
    problem: /own\.cedar line 3/,
  },
  'an empty file': { text: '// nothing\n', problem: /own\.cedar: contains no policy/ },
  'a policy without an id': {
    text: 'permit (principal, action, resource);',
    problem: /own\.cedar: each policy needs @id/,
  },
  'an id of other characters': {
    text: '@id("A b")\npermit (principal, action, resource);',
    problem: /needs @id/,
  },
  'an id that is taken': {
    text: '@id("viewer-read")\npermit (principal, action, resource);',
    problem: /another policy @id\("viewer-read"\)/,
  },
  'a template': {
    text: '@id("x")\npermit (principal == ?principal, action, resource);',
    problem: /templates/,
  },
  'a role that does not exist': {
    text: '@id("x")\npermit (principal in Role::"edtor", action, resource);',
    problem: /edtor/,
  },
  'an attribute that does not exist': {
    text: '@id("x")\npermit (principal, action, resource) when { principal.email == "a" };',
    problem: /email/,
  },
};

for (const [what, { text, problem }] of Object.entries(unsound)) {
  test(`rejects ${what}`, async () => {
    const folder = policyFolder(text);
    await assert.rejects(Policies.open(folder), (error) => {
      assert.ok(error instanceof AppError);
      assert.equal(error.reason, 'CONFIG');
      assert.match(error.fields.AUTHZ_POLICIES ?? '', problem);
      return true;
    });
  });
}

test('the id is the annotation, not text that looks like one', async () => {
  const folder = policyFolder(
    `// @id("first")
@doc("\n@id(\\"second\\") // ") // @id("third")
@id( "fourth" )
permit (principal, action, resource) when { principal.username == "@id(\\"fifth\\")" };`,
  );
  using policies = await Policies.open(folder);
  assert.deepEqual([policies.ids.length, policies.ids.includes('fourth')], [5, true]);
});

test('rejects a folder that is missing or has no policies', async () => {
  const folder = testFolder('policies');
  await assert.rejects(Policies.open(folder), /contains no \.cedar file/);
  await assert.rejects(Policies.open(join(folder, 'missing')), /cannot be read: ENOENT/);
});

test('a policy that forbids wins, and is named in the decision', async () => {
  const folder = policyFolder('@id("not-alice")\nforbid (principal == Account::"4", action, resource);');
  using policies = await Policies.open(folder);
  assert.deepEqual(policies.evaluate(query), { allowed: false, policy: 'not-alice' });
  assert.deepEqual(policies.evaluate({ ...query, uid: 5 }), { allowed: true, policy: 'viewer-read' });
});

test('throws if the evaluation of a policy fails, even if another one allows', async () => {
  const folder = policyFolder(
    '@id("overflow")\nforbid (principal, action, resource) when { principal.uid + 9223372036854775807 > 0 };',
  );
  using policies = await Policies.open(folder);
  assert.throws(() => policies.evaluate(query), /overflow/);
});

test('a reload replaces all policies; one that fails changes nothing', async () => {
  const folder = policyFolder('@id("lent")\npermit (principal == Account::"4", action, resource);');
  using policies = await Policies.open(folder);
  const write = { ...query, action: 'write' } as const;
  assert.deepEqual(policies.evaluate(write), { allowed: true, policy: 'lent' });
  const before = policies.version;

  assert.equal(await policies.reload(), false);
  writeFileSync(join(folder, 'own.cedar'), 'permit (');
  await assert.rejects(policies.reload(), /own\.cedar/);
  assert.deepEqual(policies.evaluate(write), { allowed: true, policy: 'lent' });
  assert.equal(policies.version, before);

  rmSync(join(folder, 'own.cedar'));
  assert.equal(await policies.reload(), true);
  assert.deepEqual(policies.evaluate(write), { allowed: false, policy: 'default-deny' });
  assert.notEqual(policies.version, before);
});

test('two sets of policies work side by side in one process', async () => {
  using strict = await Policies.open(shippedPolicies);
  using lax = await Policies.open(policyFolder('@id("all")\npermit (principal, action, resource);'));
  const write = { ...query, action: 'write' } as const;
  assert.equal(strict.evaluate(write).allowed, false);
  assert.equal(lax.evaluate(write).allowed, true);
});

function policyFolder(text: string): string {
  const folder = testFolder('policies');
  cpSync(shippedPolicies, folder, { recursive: true });
  writeFileSync(join(folder, 'own.cedar'), text);
  return folder;
}
