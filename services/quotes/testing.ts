import assert from 'node:assert/strict';
import type { Environment, Settings } from '@octavo/core';
import { FakeClock } from '@octavo/core';
import type { Service, ServiceContext } from '@octavo/data/service';
import { openServiceAccounts } from '@octavo/people/accounts';
import {
  accountsEnvironment,
  bearer,
  PageClient,
  type PageResponse,
  type StartOptions,
  sendRequest,
  type TestRequest,
  type TestResponse,
  testConfig,
  testContext,
  testFolder,
} from '@octavo/testing';
import { quotes } from './service.ts';

export const password = 'ferries wait in fog';

export const startMs = Date.parse('2026-03-01T12:00:00Z');

export interface CallOptions extends Omit<TestRequest, 'method'> {
  /** An access token. */
  readonly token?: string | undefined;
}

export interface TestQuotes extends AsyncDisposable {
  readonly url: string;
  readonly clock: FakeClock;
  readonly context: ServiceContext;
  readonly environment: Environment;
  /** Access tokens of Alice, Bob and Charlie, and of Dora, who is staff. They expire after five minutes. */
  readonly tokens: Readonly<Record<'alice' | 'bob' | 'charlie' | 'dora', string>>;
  call(method: string, path: string, options?: CallOptions): Promise<TestResponse>;
  /** Signs in by the API. */
  signIn(username: string): Promise<{ access: string; refresh: string }>;
  /** Adds a quote of Alice, and returns its id. */
  add(quote?: Partial<QuoteBody>, token?: string): Promise<number>;
  /** A signed-in browser without scripts. */
  browser(username?: string): Promise<PageClient>;
  /** Runs a bulk action of the admin on quotes, as Dora does; by the label of the model, such as `quote`. */
  act(model: string, action: string, ids: readonly number[]): Promise<PageResponse>;
  metric(name: string): Promise<number>;
}

export interface QuoteBody {
  readonly text: string;
  readonly author: string;
  readonly category: string;
  readonly source: string;
  readonly attribution: string;
}

let added = 0;

/** The service on a free port with four accounts; without a `DATABASE_URL` in an empty database of the mode of the tests, or in this folder. */
export async function startQuotes(
  options: Pick<StartOptions, 'environment' | 'folder'> = {},
): Promise<TestQuotes> {
  const { environment: given = {}, folder = testFolder('quotes') } = options;
  const environment = await accountsEnvironment(given);
  const clock = new FakeClock(startMs);
  const context = testContext('quotes', { clock, dataFolder: folder });
  await createReaders({ environment, context });
  await using stack = new AsyncDisposableStack();
  const running = stack.use(await quotes.start(testConfig(quotes.settings, environment), context, {}));
  const url = running.url ?? '';
  const call = callOf(url);
  const signIn = async (username: string) => {
    const { status, json, text } = await call('POST', '/api/token/', { body: { username, password } });
    assert.equal(status, 200, text);
    return json as { access: string; refresh: string };
  };
  const names = ['alice', 'bob', 'charlie', 'dora'] as const;
  const pairs = await Promise.all(names.map(signIn));
  const tokens = Object.fromEntries(
    names.map((name, index) => [name, pairs[index]?.access]),
  ) as TestQuotes['tokens'];
  const owned = stack.move();
  return {
    url,
    clock,
    context,
    environment,
    tokens,
    call,
    signIn,
    async add(quote = {}, token = tokens.alice) {
      const body = { text: `Quote number ${++added}.`, author: 'Somebody', category: 'Life', ...quote };
      const created = await call('POST', '/api/quotes/', { body, token });
      assert.equal(created.status, 201, created.text);
      return created.json.id;
    },
    async browser(username) {
      const client = new PageClient(url);
      if (username === undefined) return client;
      await client.open('/accounts/login/');
      const { status } = await client.send('/accounts/login/', { username, password, next: '/' });
      assert.equal(status, 303);
      return client;
    },
    async act(this: TestQuotes, model, action, ids) {
      const client = await this.browser('dora');
      const list = `/admin/quotes/${model}/`;
      await client.open(list);
      return client.send(list, { action, post: 'yes', _selected_action: ids.map(String) });
    },
    async metric(name) {
      return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec((await call('GET', '/metrics')).text)?.[1]);
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

async function createReaders(place: { environment: Environment; context: ServiceContext }): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const service = quotes as unknown as Service<Settings, never>;
  const accounts = await openServiceAccounts(service, { ...place, stack });
  if (await accounts.byUsername('alice')) return;
  for (const username of ['alice', 'bob', 'charlie']) await accounts.create({ username, password });
  await accounts.create({ username: 'dora', password, isStaff: true, isSuperuser: true });
}

function callOf(url: string): TestQuotes['call'] {
  return (method, path, { body, token, headers } = {}) =>
    sendRequest(`${url}${path}`, { method, body, headers: { ...bearer(token), ...headers } });
}
