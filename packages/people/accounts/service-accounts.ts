import type { Environment } from '@octavo/core';
import { AppError, readConfig, type Settings } from '@octavo/core';
import { configOf, openServiceDatabase, type Service, type ServiceContext } from '@octavo/data/service';
import { type Accounts, accountMigrations, accountSettings, openAccounts } from './accounts.ts';
import type { AccountTables } from './store.ts';

/**
 * The accounts of a service without serving it, for the command line; `stack` closes them. Throws `invalid_input` for a service that
 * has no accounts of this kind.
 */
export async function openServiceAccounts(
  service: Service<Settings, never>,
  {
    environment,
    context,
    stack,
  }: { environment: Environment; context: ServiceContext; stack: AsyncDisposableStack },
): Promise<Accounts> {
  const config = configOf(service, environment);
  const migrations = service.database?.(config, context).migrations;
  if (!Array.isArray(migrations) || !migrations.includes(accountMigrations))
    throw new AppError('invalid_input', `${service.name} has no administrators of its own`);
  const database = stack.use(await openServiceDatabase<AccountTables>(service, config, context));
  return openAccounts({
    database,
    stack,
    log: context.log,
    clock: context.clock,
    words: [service.name],
    config: readConfig(accountSettings, service.sources?.(environment) ?? environment),
  });
}
