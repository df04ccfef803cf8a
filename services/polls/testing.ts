import assert from 'node:assert/strict';
import type { Environment, Settings } from '@octavo/core';
import { FakeClock } from '@octavo/core';
import { silentLog } from '@octavo/core/log';
import type { Database } from '@octavo/data';
import type { Service, ServiceContext } from '@octavo/data/service';
import { openServiceAccounts } from '@octavo/people/accounts';
import {
  accountsEnvironment,
  type StartOptions,
  sendRequest,
  type TestRequest,
  type TestResponse,
  testConfig,
  testContext,
  testFolder,
} from '@octavo/testing';
import { Registry } from 'prom-client';
import { openPolls, polls } from './service.ts';
import type { Tables } from './store.ts';

export const password = 'ferries wait in fog';

export interface CallOptions extends Omit<TestRequest, 'method'> {
  /** The whole `Authorization` header; by default that of Alice on writes. */
  readonly authorization?: string | undefined;
}

export interface TestPolls extends AsyncDisposable {
  readonly url: string;
  readonly clock: FakeClock;
  /** A token of Alice, an administrator. */
  readonly token: string;
  call(method: string, path: string, options?: CallOptions): Promise<TestResponse>;
  /** Creates a question with choices; the first one is correct. */
  createPoll(texts: readonly string[], question?: object): Promise<{ id: number; choices: number[] }>;
  /** The value of a metric in /metrics. */
  metric(name: string): Promise<number>;
  /** The database of the service, once more. */
  openDatabase(): Promise<Database<Tables>>;
}

const startMs = Date.parse('2026-03-01T12:00:00Z');

/** The service on a free port with the administrator Alice; without a `DATABASE_URL` in an empty database of the mode of the tests, or in this folder. */
export async function startPolls(
  options: Pick<StartOptions, 'environment' | 'folder' | 'log'> = {},
): Promise<TestPolls> {
  const { environment: given = {}, folder = testFolder('polls'), log = silentLog } = options;
  const environment = await accountsEnvironment(given);
  const clock = new FakeClock(startMs);
  const context = testContext('polls', { clock, dataFolder: folder, log });
  await createStaff({ environment, context });
  const running = await polls.start(testConfig(polls.settings, environment), context, {});
  const url = running.url ?? '';
  const call = callOf(url);
  const { json, text } = await call('POST', '/api/token/', { body: { username: 'alice', password } });
  assert.ok(json.token, text);
  const { token } = json;
  const withToken: TestPolls['call'] = (method, path, options = {}) => {
    const isWrite = !['GET', 'HEAD', 'OPTIONS'].includes(method);
    return call(method, path, { ...(isWrite && { authorization: `Token ${token}` }), ...options });
  };
  return {
    url,
    clock,
    token,
    call: withToken,
    async createPoll(texts, question = {}) {
      const body = { question_text: 'Which one?', pub_date: '2026-02-01T00:00:00Z', ...question };
      const created = await withToken('POST', '/api/questions/', { body });
      assert.equal(created.status, 201, created.text);
      const { id } = created.json;
      const choices: number[] = [];
      for (const [index, choice_text] of texts.entries()) {
        const choice = { question: id, choice_text, is_correct: index === 0 };
        choices.push((await withToken('POST', '/api/choices/', { body: choice })).json.id);
      }
      return { id, choices };
    },
    async metric(name) {
      const line = new RegExp(`^${name.replace(/[{}]/g, '\\$&')} (\\S+)$`, 'm');
      return Number(line.exec((await call('GET', '/metrics')).text)?.[1]);
    },
    openDatabase: () => openPolls(environment, { ...context, metrics: new Registry() }),
    [Symbol.asyncDispose]: () => running[Symbol.asyncDispose](),
  };
}

/** Alice is an administrator; Bob may sign in, but do nothing. */
async function createStaff(place: { environment: Environment; context: ServiceContext }): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const service = polls as unknown as Service<Settings, never>;
  const accounts = await openServiceAccounts(service, { ...place, stack });
  if (await accounts.byUsername('alice')) return;
  await accounts.create({ username: 'alice', password, isStaff: true, isSuperuser: true });
  await accounts.create({ username: 'bob', password, isStaff: true });
}

function callOf(url: string): TestPolls['call'] {
  return (method, path, { body, authorization, headers } = {}) => {
    const signedIn = authorization !== undefined && { authorization };
    return sendRequest(`${url}${path}`, { method, body, headers: { ...signedIn, ...headers } });
  };
}
