import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { authz, openAccounts, runPolicyTests } from '@octavo/authz';
import type { Environment } from '@octavo/core';
import { AppError, readConfig } from '@octavo/core';
import { readPassword } from '../terminal/read-password.ts';
import { contextOf, existingContextOf } from './existing-data.ts';

type Accounts = Awaited<ReturnType<typeof openAccounts>>['accounts'];

const verbs: Readonly<
  Record<string, (accounts: Accounts, username: string, role: string) => Promise<string>>
> = {
  list: async (accounts) => (await accounts.list()).map(line).join('\n'),
  add: async (accounts, username, role) =>
    line(await accounts.create({ username, role, password: await readPassword(username) })),
  passwd: async (accounts, username) =>
    line(await accounts.update(username, { password: await readPassword(username) })),
  role: async (accounts, username, role) => line(await accounts.update(username, { role })),
  disable: async (accounts, username) => line(await accounts.update(username, { disabled: true })),
  enable: async (accounts, username) => line(await accounts.update(username, { disabled: false })),
};
const takesRole = ['add', 'role'];

/** `octavo accounts`. */
export async function accounts(args: string[], environment: Environment = process.env): Promise<number> {
  const { positionals, values } = parseArgs({
    args,
    allowPositionals: true,
    options: { role: { type: 'string' } },
  });
  const [name = '', username = '', role = values.role ?? ''] = positionals;
  const verb = verbs[name];
  if (!verb)
    throw new AppError('invalid_input', `octavo accounts needs one of ${Object.keys(verbs).join(', ')}`);
  if (name !== 'list' && !username)
    throw new AppError('invalid_input', `octavo accounts ${name} needs a username`);
  if (takesRole.includes(name) && !role) {
    throw new AppError('invalid_input', `octavo accounts ${name} needs a role: admin, editor or viewer`);
  }
  await using opened = await openAccounts(
    readConfig(authz.settings, environment),
    (name === 'add' ? contextOf : existingContextOf)(authz, environment),
  );
  process.stdout.write(`${await verb(opened.accounts, username, role)}\n`);
  return 0;
}

function line(account: { uid: number; username: string; role: string; disabled: boolean }): string {
  const { uid, username, role, disabled } = account;
  return `${String(uid).padStart(4)}  ${username.padEnd(24)}  ${role}${disabled ? '  (disabled)' : ''}`;
}

/** `octavo policy`. */
export async function policy(args: string[]): Promise<number> {
  const { positionals } = parseArgs({ args, allowPositionals: true, options: {} });
  const [verb, file] = positionals;
  if (verb !== 'test' || !file) throw new AppError('invalid_input', 'usage: octavo policy test FILE');
  const { AUTHZ_POLICIES: folder } = readConfig(authz.settings, process.env);
  const { passed, failures, uncovered } = await runPolicyTests(await readCases(file), folder);
  for (const failure of failures) process.stdout.write(`${failure}\n`);
  process.stdout.write(
    `${passed} cases passed, ${failures.length} failed; ${uncovered} combinations have no case\n`,
  );
  return failures.length > 0 ? 1 : 0;
}

async function readCases(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new AppError('invalid_input', `${file} cannot be read: ${(error as NodeJS.ErrnoException).code}`);
  }
}
