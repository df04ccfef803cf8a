import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { testFolder } from '@octavo/testing';
import { parsePolicyCases, runPolicyTests } from './policy-cases.ts';

const shipped = await readFile(new URL('policies/cases.txt', import.meta.url), 'utf8');
const header = 'role resource action mfa account outcome policy\n';

test('the shipped policies pass the shipped cases, which cover every combination', async () => {
  assert.deepEqual(await runPolicyTests(shipped), { passed: 144, failures: [], uncovered: 0 });
});

test('reports which case had another outcome, and which', async () => {
  const table = `${header}viewer post read,write no active allow viewer-read\n`;
  assert.deepEqual(await runPolicyTests(table), {
    passed: 1,
    failures: [
      'line 2: viewer write post, mfa no, active: expected allow viewer-read, got deny default-deny',
    ],
    uncovered: 142,
  });
});

test('tests the policies of another folder', async () => {
  const folder = testFolder('policies');
  writeFileSync(join(folder, 'all.cedar'), '@id("all")\npermit (principal, action, resource);');
  const { failures } = await runPolicyTests(`${header}* * * * active allow all\n`, folder);
  assert.deepEqual(failures, []);
});

const malformed: Record<string, { table: string; problem: RegExp }> = {
  'no header': { table: '', problem: /line 1: the first line must name the columns/ },
  'another header': { table: 'role resource\n', problem: /line 1: the first line must name the columns/ },
  'a short line': { table: `${header}viewer post read\n`, problem: /line 2: must have 7 words/ },
  'an unknown word': {
    table: `${header}viewer post reed no active deny default-deny`,
    problem: /line 2: action reed/,
  },
  'an unknown outcome': { table: `${header}viewer post read no active maybe x`, problem: /line 2: outcome/ },
  'the same case twice': {
    table: `${header}viewer post read no active allow viewer-read\n* post read no active allow x`,
    problem: /line 3: line 2 already has this case: viewer post read no active/,
  },
};

for (const [what, { table, problem }] of Object.entries(malformed)) {
  test(`rejects a table with ${what}`, () => {
    assert.throws(() => parsePolicyCases(table), problem);
  });
}

test('accepts the columns in any order', () => {
  const [row] = parsePolicyCases(
    'policy outcome account mfa action resource role\np deny active no read ml admin',
  );
  assert.deepEqual(row, {
    line: 2,
    outcome: 'deny',
    policy: 'p',
    role: 'admin',
    resource: 'ml',
    action: 'read',
    mfa: 'no',
    account: 'active',
  });
});
