import { AppError } from '@octavo/core';
import {
  type Action,
  actions,
  type ResourceType,
  type Role,
  resourceTypes,
  roles,
} from '@octavo/protocols/authz/v1/permissions';
import { decide } from './access.ts';
import { Policies } from './policies.ts';
import { shippedPolicies } from './policy-files.ts';

const columns = {
  role: roles,
  resource: resourceTypes,
  action: actions,
  mfa: ['yes', 'no'],
  account: ['active', 'disabled'],
} as const;
const outcomes = ['allow', 'deny', 'mfa-required'];

/** One combination and its expected outcome. */
export interface PolicyCase {
  readonly line: number;
  readonly role: Role;
  readonly resource: ResourceType;
  readonly action: Action;
  readonly mfa: 'yes' | 'no';
  readonly account: 'active' | 'disabled';
  readonly outcome: string;
  readonly policy: string;
}

export interface PolicyTestReport {
  readonly passed: number;
  /** One sentence for each case with another outcome. */
  readonly failures: readonly string[];
  /** Number of combinations without a case. */
  readonly uncovered: number;
}

/** Runs each case of a table against the policies of a folder (policies/cases.txt explains the format). Throws if it is not such a table. */
export async function runPolicyTests(text: string, folder = shippedPolicies): Promise<PolicyTestReport> {
  const cases = parsePolicyCases(text);
  using policies = await Policies.open(folder);
  const failures = cases.flatMap((row) => {
    const actual = outcomeOf(policies, row);
    if (actual === `${row.outcome} ${row.policy}`) return [];
    const { line, role, resource, action, mfa, account } = row;
    const query = `${role} ${action} ${resource}, mfa ${mfa}, ${account}`;
    return [`line ${line}: ${query}: expected ${row.outcome} ${row.policy}, got ${actual}`];
  });
  const combinations = Object.values(columns).reduce((product, words) => product * words.length, 1);
  return { passed: cases.length - failures.length, failures, uncovered: combinations - cases.length };
}

function outcomeOf(policies: Policies, row: PolicyCase): string {
  const subject = { uid: 1, username: 'alice' };
  const account = {
    ...subject,
    role: row.role,
    disabled: row.account === 'disabled',
    passwordChangedAtMs: 0,
  };
  const { allowed, reason, policy } = decide(policies.evaluate, account, {
    ...subject,
    mfaVerified: row.mfa === 'yes',
    resourceType: row.resource,
    action: row.action,
  });
  if (allowed) return `allow ${policy}`;
  return `${reason === 'MFA_REQUIRED' ? 'mfa-required' : 'deny'} ${policy}`;
}

/** The cases of a table, one for each combination. */
export function parsePolicyCases(text: string): PolicyCase[] {
  const lines = text
    .split(/\r?\n/)
    .map((content, index) => ({ line: index + 1, words: content.replace(/#.*/, '').trim().split(/\s+/) }))
    .filter(({ words }) => words[0] !== '');
  const [header, ...rows] = lines;
  const names = header?.words ?? [];
  const wanted = [...Object.keys(columns), 'outcome', 'policy'];
  if (names.toSorted().join() !== wanted.toSorted().join()) {
    throw malformed(header?.line ?? 1, `the first line must name the columns ${wanted.join(', ')}`);
  }
  const seen = new Map<string, number>();
  return rows.flatMap(({ line, words }) => {
    if (words.length !== names.length) throw malformed(line, `must have ${names.length} words`);
    const cases = expand(
      line,
      Object.fromEntries(names.map((name, index) => [name, words[index] as string])),
    );
    for (const row of cases) rejectDuplicate(seen, row);
    return cases;
  });
}

function expand(line: number, row: Record<string, string>): PolicyCase[] {
  if (!outcomes.includes(row.outcome as string)) {
    throw malformed(line, `outcome must be one of ${outcomes.join(', ')}`);
  }
  let cases: Record<string, string>[] = [{ outcome: row.outcome as string, policy: row.policy as string }];
  for (const [name, known] of Object.entries(columns)) {
    const words = row[name] === '*' ? known : (row[name] as string).split(',');
    const wrong = words.find((word) => !(known as readonly string[]).includes(word));
    if (wrong !== undefined)
      throw malformed(line, `${name} ${wrong} must be one of ${known.join(', ')}, or *`);
    cases = cases.flatMap((partial) => words.map((word) => ({ ...partial, [name]: word })));
  }
  return cases.map((combination) => ({ line, ...combination }) as unknown as PolicyCase);
}

function rejectDuplicate(
  seen: Map<string, number>,
  { line, role, resource, action, mfa, account }: PolicyCase,
): void {
  const key = [role, resource, action, mfa, account].join(' ');
  const before = seen.get(key);
  if (before !== undefined) throw malformed(line, `line ${before} already has this case: ${key}`);
  seen.set(key, line);
}

function malformed(line: number, problem: string): AppError {
  return new AppError('invalid_input', `line ${line}: ${problem}`, { fields: { [`line ${line}`]: problem } });
}
