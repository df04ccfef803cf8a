import { parseArgs } from 'node:util';
import type { Environment } from '#kit/config.ts';
import { readConfig } from '#kit/config.ts';
import { AppError } from '#kit/errors.ts';
import { authz, openAccounts } from '../../services/authz/service.ts';
import { contextFor } from '../../services/system.ts';
import { readPassword } from '../password.ts';

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

export async function run(args: string[], environment: Environment = process.env): Promise<number> {
  const { positionals } = parseArgs({ args, allowPositionals: true, options: {} });
  const [name = '', username = '', role = ''] = positionals;
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
    contextFor('authz', { environment }),
  );
  process.stdout.write(`${await verb(opened.accounts, username, role)}\n`);
  return 0;
}

function line(account: { uid: number; username: string; role: string; disabled: boolean }): string {
  const { uid, username, role, disabled } = account;
  return `${String(uid).padStart(4)}  ${username.padEnd(24)}  ${role}${disabled ? '  (disabled)' : ''}`;
}
