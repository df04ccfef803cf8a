import assert from 'node:assert/strict';
import { FakeClock } from '@octavo/core';
import { silentLog } from '@octavo/core/log';
import type { DemoSignIn } from '@octavo/data/service';
import {
  type StartOptions,
  sendRequest,
  type TestRequest,
  type TestResponse,
  testConfig,
  testContext,
  testFolder,
  testMode,
  until,
} from '@octavo/testing';
import { budgets } from './service.ts';

export const password = 'ferries wait in fog';

/** A signed-in person. */
export interface Person {
  readonly id: string;
  readonly email: string;
  readonly token: string;
  send(path: string, options?: TestRequest): Promise<TestResponse>;
  get(path: string): Promise<TestResponse>;
  post(path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<TestResponse>;
  put(path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<TestResponse>;
  delete(path: string, body?: unknown): Promise<TestResponse>;
  /** Creates something and returns it. */
  // biome-ignore lint/suspicious/noExplicitAny: a test inspects any response
  create(path: string, body: unknown): Promise<any>;
}

export interface TestBudgets extends AsyncDisposable {
  readonly url: string;
  readonly grpcPort: number;
  readonly clock: FakeClock;
  readonly folder: string;
  readonly databaseUrl: string | undefined;
  readonly demoSignIns: readonly DemoSignIn[];
  /** Address that creates the first administrator. */
  readonly setupLink: string;
  send(path: string, options?: TestRequest): Promise<TestResponse>;
  /** Registers a person. */
  person(name?: string): Promise<Person>;
  /** The person with a new token, since time has passed. */
  signIn(person: Person): Promise<Person>;
  /** Adds the recurring expenses that are due, as the service does every few seconds. */
  addDueExpenses(): Promise<unknown>;
}

/** Starts the service on a free port, in the mode of the tests, without limits and with fast hashes. Call it at the top of a file. */
export async function startBudgets(options: StartOptions<TestBudgets> = {}): Promise<TestBudgets> {
  const { environment = {}, nodeEnv = 'test', log = silentLog, beside } = options;
  const folder = beside?.folder ?? options.folder ?? testFolder('budgets');
  const { databaseUrl } = beside ?? (await testMode());
  const clock = new FakeClock(Date.UTC(2026, 2, 15, 12));
  const config = testConfig(budgets.settings, {
    ARGON2_MEMORY_KIB: '8',
    ARGON2_PASSES: '1',
    BUDGETS_RATE_LIMIT_PER_MINUTE: '0',
    BUDGETS_AUTH_RATE_LIMIT_PER_MINUTE: '0',
    DATABASE_URL: databaseUrl,
    ...environment,
  });
  const running = await budgets.start(
    config,
    testContext('budgets', { log, clock, dataFolder: folder, environment: nodeEnv }),
    {},
  );
  const url = running.url ?? '';
  const send = (path: string, given?: TestRequest) => sendRequest(`${url}${path}`, given);
  return {
    url,
    clock,
    folder,
    databaseUrl,
    send,
    grpcPort: running.grpcPort ?? 0,
    demoSignIns: (await running.demoSignIns?.()) ?? [],
    setupLink: (await running.setupLink?.()) ?? '',
    person: (name = 'alice') => register(send, name),
    signIn: (person) => signIn(send, person),
    addDueExpenses: () => running.addDueExpenses(),
    [Symbol.asyncDispose]: () => running[Symbol.asyncDispose](),
  };
}

let people = 0;

async function register(send: TestBudgets['send'], name: string): Promise<Person> {
  const email = `${name}-${people++}@example.com`;
  const { status, text, json } = await send('/api/auth/register', { body: { email, password } });
  assert.equal(status, 201, text);
  return personOf(send, { id: json.user.id, email, token: json.token });
}

async function signIn(send: TestBudgets['send'], { id, email }: Person): Promise<Person> {
  const { status, text, json } = await send('/api/auth/login', { body: { email, password } });
  assert.equal(status, 200, text);
  return personOf(send, { id, email, token: json.token });
}

/** A person with a token. */
export function personOf(
  send: TestBudgets['send'],
  { id, email, token }: Pick<Person, 'id' | 'email' | 'token'>,
): Person {
  const authorized = (path: string, { headers, ...options }: TestRequest = {}) =>
    send(path, { ...options, headers: { authorization: `Bearer ${token}`, ...headers } });
  return {
    id,
    email,
    token,
    send: authorized,
    get: (path) => authorized(path),
    post: (path, body, headers) => authorized(path, { method: 'POST', body, headers }),
    put: (path, body, headers) => authorized(path, { method: 'PUT', body, headers }),
    delete: (path, body) => authorized(path, { method: 'DELETE', body }),
    async create(path, body) {
      const { status, text, json } = await authorized(path, { body });
      assert.ok(status === 201 || status === 202, text);
      return json;
    },
  };
}

/** Asserts the exact shape of an error. */
export function assertError(
  { status, text, json, headers }: TestResponse,
  expected: { status: number; code: string; field?: string },
): void {
  assert.equal(status, expected.status, text);
  assert.deepEqual(Object.keys(json), ['error']);
  assert.deepEqual(Object.keys(json.error), ['code', 'message', 'fields', 'requestId']);
  assert.equal(json.error.code, expected.code, text);
  assert.equal(json.error.requestId, headers.get('x-request-id'));
  if (expected.field !== undefined) assert.ok(expected.field in json.error.fields, text);
}

/** Asserts that the address of GraphQL refused a request in the form of GraphQL. */
export function assertGraphqlError(
  { status, text, json }: TestResponse,
  expected: { status: number; code: string },
): void {
  assert.equal(status, expected.status, text);
  assert.deepEqual(Object.keys(json), ['errors']);
  const [error, ...others] = json.errors;
  assert.equal(typeof error.message, 'string');
  assert.deepEqual([error.extensions.code, others.length], [expected.code, 0], text);
}

/** A task once it has ended. */
// biome-ignore lint/suspicious/noExplicitAny: a test inspects any result
export async function finished(person: Person, { id }: { id: string }): Promise<any> {
  return until(async () => {
    const { status, json } = await person.get(`/api/tasks/${id}`);
    // On a busy machine the service may be too busy to tell.
    return status !== 503 && json.status !== 'pending' && json.status !== 'running' && json;
  });
}
