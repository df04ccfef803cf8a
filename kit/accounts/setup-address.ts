import type { ServiceContext } from '../service.ts';
import type { Accounts } from './accounts.ts';

/**
 * The address at which the first administrator is created, for `setupLink` of a started service: an hour, once. Undefined where there
 * is an administrator, and in production unless `inProduction`, the setting `ADMIN_SETUP_LINK`.
 */
export async function setupAddress(
  accounts: Accounts,
  options: { url: string; context: Pick<ServiceContext, 'environment'>; inProduction: boolean },
): Promise<string | undefined> {
  const { url, context, inProduction } = options;
  if (context.environment === 'production' && !inProduction) return undefined;
  const token = await accounts.createSetupToken();
  return token && `${url}${setupPath}?token=${token}`;
}

/** Where the admin creates the first administrator. */
export const setupPath = '/admin/setup/';
