import { parseArgs } from 'node:util';
import type { Environment, Settings } from '@octavo/core';
import { AppError } from '@octavo/core';
import type { Service } from '@octavo/data/service';
import type { Accounts } from '@octavo/people/accounts';
import { loadServices } from '../index.ts';
import { readPassword } from '../terminal/read-password.ts';
import { contextOf, existingContextOf } from './existing-data.ts';

type Load = (names: readonly string[]) => Promise<Service<Settings, never>[]>;

const verbs: Readonly<
  Record<string, (accounts: Accounts, username: string, password: string) => Promise<string>>
> = {
  async create(accounts, username, password) {
    const user = await accounts.create({ username, password, isStaff: true, isSuperuser: true });
    return `${user.username} is an administrator now`;
  },
  async password(accounts, username, password) {
    const user = await accounts.byUsername(username);
    if (!user) throw new AppError('not_found', `there is no user "${username}"`);
    await accounts.setPassword(user, password);
    return `${user.username} has a new password`;
  },
};

/** `octavo admin`. */
export async function run(
  args: string[],
  environment: Environment = process.env,
  load: Load = loadServices,
): Promise<number> {
  const { positionals } = parseArgs({ args, allowPositionals: true, options: {} });
  const [name = '', serviceName = '', username = ''] = positionals;
  const verb = verbs[name];
  if (!verb || !serviceName || !username)
    throw new AppError('invalid_input', 'usage: octavo admin create|password SERVICE NAME');
  const [service] = (await load([serviceName])) as [Service<Settings, never>];
  const { openServiceAccounts } = await import('@octavo/people/accounts');
  await using stack = new AsyncDisposableStack();
  const context = (name === 'create' ? contextOf : existingContextOf)(service, environment);
  const accounts = await openServiceAccounts(service, {
    environment,
    context,
    stack,
  });
  const password = environment.ADMIN_PASSWORD || (await readPassword(username));
  process.stdout.write(`${serviceName}: ${await verb(accounts, username, password)}\n`);
  return 0;
}
