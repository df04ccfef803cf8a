import type { Environment, Settings } from '@octavo/core';
import { FakeClock } from '@octavo/core';
import type { Service, ServiceContext } from '@octavo/data/service';
import { openServiceAccounts } from '@octavo/people/accounts';
import {
  bearer,
  type StartOptions,
  sendRequest,
  type TestResponse,
  testConfig,
  testConnections,
  testContext,
  testFolder,
  testMode,
} from '@octavo/testing';
import { portfolio } from './service.ts';

export const jwtSecret = 'the signing key of the tests, long enough';

export interface TestPortfolio extends AsyncDisposable {
  readonly url: string;
  readonly clock: FakeClock;
  /** Environment with its data, for `importFile`. */
  readonly environment: Environment;
  readonly context: ServiceContext;
  readonly token: string;
  /** Sends the token, unless the headers have another `authorization`. */
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<TestResponse>;
}

/** The service on a free port, with the demo data outside production. */
export async function startPortfolio(
  options: Pick<StartOptions, 'environment' | 'nodeEnv' | 'folder'> = {},
): Promise<TestPortfolio> {
  const { environment: given = {}, nodeEnv = 'test', folder = testFolder('portfolio') } = options;
  const { databaseUrl = '' } = await testMode();
  const environment = {
    DATABASE_URL: databaseUrl,
    ...testConnections,
    PORTFOLIO_JWT_SECRET: jwtSecret,
    ...given,
  };
  const clock = new FakeClock();
  const context = testContext('portfolio', { clock, dataFolder: folder, environment: nodeEnv });
  const running = await portfolio.start(testConfig(portfolio.settings, environment), context, {});
  const url = running.url ?? '';
  let token = '';
  const get = (path: string, headers?: Readonly<Record<string, string>>): Promise<TestResponse> =>
    sendRequest(`${url}${path}`, { headers: { ...bearer(token), ...headers } });
  if (!given.AUTH_CLIENTS) token = (await get('/auth/token')).json.token;
  return {
    url,
    clock,
    environment,
    context,
    token,
    get,
    [Symbol.asyncDispose]: () => running[Symbol.asyncDispose](),
  };
}

/** Adds an administrator, as `octavo admin create` does. */
export async function addAdministrator(
  { environment, context }: TestPortfolio,
  username: string,
  password: string,
): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const service = portfolio as unknown as Service<Settings, never>;
  const accounts = await openServiceAccounts(service, { environment, context, stack });
  await accounts.create({ username, password, isStaff: true, isSuperuser: true });
}
