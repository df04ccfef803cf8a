import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { FakeClock } from '@octavo/core';
import { createLog } from '@octavo/core/log';
import {
  bearer,
  type StartOptions,
  sendRequest,
  type TestRequest,
  type TestResponse,
  testConfig,
  testContext,
  testFolder,
} from '@octavo/testing';
import { Registry } from 'prom-client';
import { tokens } from './service.ts';

export const secrets = {
  access: 'the access key of the tests, long enough',
  refresh: 'the refresh key of the tests, long enough',
} as const;

export const password = 'ferries wait in fog';

export interface Pair {
  readonly accessToken: string;
  readonly refreshToken: string;
}

export interface TestTokens extends AsyncDisposable {
  readonly url: string;
  readonly clock: FakeClock;
  /** The lines that were logged. */
  readonly lines: Record<string, unknown>[];
  call(method: string, path: string, options?: CallOptions): Promise<TestResponse>;
  post(path: string, body?: unknown, token?: string): Promise<TestResponse>;
  get(path: string, token?: string): Promise<TestResponse>;
  register(email: string, given?: string): Promise<Pair>;
  login(email: string, given?: string): Promise<Pair>;
  /** The value of a metric in /metrics. */
  metric(name: string): Promise<number>;
}

export interface CallOptions extends Omit<TestRequest, 'method'> {
  readonly token?: string | undefined;
}

/** The service on a free port. By default it has no rate limit and fast hashes. */
export async function startTokens(
  options: Pick<StartOptions, 'environment' | 'nodeEnv'> = {},
): Promise<TestTokens> {
  const { environment = {}, nodeEnv = 'test' } = options;
  const dataFolder = testFolder('tokens');
  const clock = new FakeClock();
  const lines: Record<string, unknown>[] = [];
  const log = createLog({
    service: 'tokens',
    destination: { write: (line) => lines.push(JSON.parse(line)) },
  });
  const config = testConfig(tokens.settings, {
    RATE_LIMIT_MAX: '0',
    EMAIL_VERIFICATION: 'off',
    ARGON2_MEMORY_KIB: '8',
    ARGON2_PASSES: '1',
    ...(nodeEnv === 'production'
      ? {}
      : { JWT_ACCESS_SECRET: secrets.access, JWT_REFRESH_SECRET: secrets.refresh }),
    ...environment,
  });
  const metrics = new Registry();
  const running = await tokens.start(
    config,
    testContext('tokens', { log, clock, dataFolder, environment: nodeEnv, metrics }),
    {},
  );
  const client = clientOf(running.url ?? '');
  return {
    ...client,
    url: running.url ?? '',
    clock,
    lines,
    [Symbol.asyncDispose]: async () => running[Symbol.asyncDispose](),
  };
}

function clientOf(url: string) {
  const call = (method: string, path: string, { body, token, headers }: CallOptions = {}) =>
    sendRequest(`${url}${path}`, { method, body, headers: { ...bearer(token), ...headers } });
  const pairOf = async (path: string, status: number, given: object): Promise<Pair> => {
    const response = await call('POST', path, { body: given });
    assert.equal(response.status, status, response.text);
    return response.json.tokens;
  };
  return {
    call,
    post: (path: string, body?: unknown, token?: string) => call('POST', path, { body, token }),
    get: (path: string, token?: string) => call('GET', path, { token }),
    register: (email: string, given = password) => pairOf('/auth/register', 201, { email, password: given }),
    login: (email: string, given = password) => pairOf('/auth/login', 200, { email, password: given }),
    async metric(name: string): Promise<number> {
      const { text } = await call('GET', '/metrics');
      return Number(new RegExp(`^${name.replace(/[{}]/g, '\\$&')} (\\S+)$`, 'm').exec(text)?.[1]);
    },
  };
}

/** Asserts the exact shape of an error. */
export function assertError(response: TestResponse, status: number, code: string): void {
  assert.equal(response.status, status, response.text);
  const { error, ...rest } = response.json;
  assert.deepEqual(rest, {});
  assert.deepEqual(Object.keys(error), ['code', 'message']);
  assert.equal(error.code, code, response.text);
  assert.ok(error.message.length > 0);
}

/** The claims of a token, unverified. */
// biome-ignore lint/suspicious/noExplicitAny: a test inspects any claim
export function claimsOf(token: string): any {
  return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
}

/** A token with any header and claims, signed with any key. Text is used unchanged. */
export function mint(header: unknown, claims: unknown, key: string = secrets.access): string {
  const input = [header, claims]
    .map((part) => (typeof part === 'string' ? part : JSON.stringify(part)))
    .map((text) => Buffer.from(text).toString('base64url'))
    .join('.');
  return `${input}.${createHmac('sha256', key).update(input).digest('base64url')}`;
}
