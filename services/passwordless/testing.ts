import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { FakeClock } from '@octavo/core';
import { Encryption } from '@octavo/core/auth';
import { createLog, silentLog } from '@octavo/core/log';
import { type Database, type DatabaseOptions, openDatabase } from '@octavo/data';
import type { ServiceContext } from '@octavo/data/service';
import {
  bearer,
  type StartOptions,
  sendRequest,
  type TestRequest,
  type TestResponse,
  testConfig,
  testFolder,
  testMode,
} from '@octavo/testing';
import { appCode } from '@octavo/testing/sign-in';
import { Registry } from 'prom-client';
import { Keys } from './keys/keys.ts';
import { passwordless } from './service.ts';
import type { TokenPair } from './sessions/session.ts';
import type { Tables } from './store/store.ts';

export const secret = 'the secret of the tests, which is long enough';
export const alice = 'alice@example.com';
export const bob = 'bob@example.com';
export const charlie = 'charlie@example.com';

/** The database of the tests. */
export interface World {
  /** PostgreSQL; SQLite if undefined. */
  readonly databaseUrl: string | undefined;
}

export interface CallOptions extends Omit<TestRequest, 'method'> {
  readonly token?: string | undefined;
}

/** A queued mail, decrypted. */
export interface WaitingMail {
  readonly id: string;
  readonly kind: string;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

export interface TestService extends AsyncDisposable {
  readonly url: string;
  readonly clock: FakeClock;
  readonly dataFolder: string;
  /** The log. */
  readonly lines: Record<string, unknown>[];
  readonly database: Database<Tables>;
  readonly databaseOptions: DatabaseOptions;
  call(method: string, path: string, options?: CallOptions): Promise<TestResponse>;
  post(path: string, body?: unknown, token?: string): Promise<TestResponse>;
  get(path: string, token?: string): Promise<TestResponse>;
  /** Queued mails, oldest first. Tests run without a worker unless they set one. */
  mails(to?: string): Promise<WaitingMail[]>;
  /** Requests a magic link and returns the token and code in the mail. */
  requestLink(email: string, token?: string): Promise<{ token: string; code: string }>;
  /** Signs in with a magic link. */
  signIn(email: string): Promise<TokenPair>;
}

export interface TestOptions extends Pick<StartOptions<TestService>, 'environment' | 'beside' | 'nodeEnv'> {
  /** Address to listen on. */
  readonly host?: string;
}

/** Runs the tests on the database that the environment names (`packages/testing/mode.ts`). */
export async function inTestMode(tests: (world: World) => void): Promise<void> {
  const { databaseUrl } = await testMode();
  describe(databaseUrl === undefined ? 'on SQLite' : 'on PostgreSQL', () => tests({ databaseUrl }));
}

const noLimits = {
  PASSWORDLESS_LIMIT_POST_PER_IP: '0',
  PASSWORDLESS_LIMIT_MAGIC_PER_IP: '0',
  PASSWORDLESS_LIMIT_MAGIC_PER_ADDRESS: '0',
  PASSWORDLESS_LIMIT_ENROLL_PER_IP: '0',
  PASSWORDLESS_LIMIT_VERIFY_PER_IP: '0',
  PASSWORDLESS_LIMIT_REFRESH_PER_IP: '0',
};

/** Starts the service on a free port with an empty database, without rate limits and without a worker. It stops after the test. */
export async function startService(
  t: { after(end: () => Promise<void>): void },
  world: World,
  { environment = {}, beside, nodeEnv = 'test', host = '127.0.0.1' }: TestOptions = {},
): Promise<TestService> {
  const dataFolder = beside?.dataFolder ?? testFolder('passwordless');
  if (world.databaseUrl && !beside) await dropSchema(world.databaseUrl);
  const clock = beside?.clock ?? new FakeClock();
  const lines: Record<string, unknown>[] = [];
  const log = createLog({
    service: 'passwordless',
    destination: { write: (line) => lines.push(JSON.parse(line)) },
  });
  const config = testConfig(passwordless.settings, {
    ...noLimits,
    PASSWORDLESS_JWT_SECRET: secret,
    PASSWORDLESS_MAGIC_LINK_BASE_URL: 'http://localhost:3003/verify/magic',
    PASSWORDLESS_WORKER: 'off',
    DATABASE_URL: world.databaseUrl,
    ...environment,
  });
  const metrics = new Registry();
  const context = { log, clock, dataFolder, environment: nodeEnv, metrics, host, port: 0 };
  const running = await passwordless.start(config, context, {});
  const options = databaseOptionsOf(config, { ...context, log: silentLog, metrics: new Registry() });
  const database = await openDatabase<Tables>(options);
  let stopped: Promise<void> | undefined;
  const stopAll = async () => {
    await running[Symbol.asyncDispose]();
    await database[Symbol.asyncDispose]();
  };
  const stop = (): Promise<void> => {
    stopped ??= stopAll();
    return stopped;
  };
  t.after(stop);
  const url = running.url ?? '';
  const places = { url, clock, dataFolder, lines, database, databaseOptions: options };
  return { ...places, ...clientOf(url, database), [Symbol.asyncDispose]: stop };
}

type Config = Parameters<typeof passwordless.start>[0];

/** The options of the service's database. */
export function databaseOptionsOf(config: Config, context: ServiceContext): DatabaseOptions {
  const options = passwordless.database?.(config, context);
  assert.ok(options);
  return options;
}

/** Calls a service and reads the queued mails in its database. */
export type Client = Pick<TestService, 'call' | 'post' | 'get' | 'mails' | 'requestLink' | 'signIn'>;

export function clientOf(url: string, database: Database<Tables>): Client {
  const call = (method: string, path: string, { body, token, headers }: CallOptions = {}) =>
    sendRequest(`${url}${path}`, { method, body, headers: { ...bearer(token), ...headers } });
  const post = (path: string, body?: unknown, token?: string) => call('POST', path, { body, token });
  const get = (path: string, token?: string) => call('GET', path, { token });
  const mails = (to?: string) => readMails(database, to);
  const requestLink = async (email: string, token?: string) => {
    const before = new Set((await mails(email)).map(({ id }) => id));
    const response = await post('/request/magic', { email }, token);
    assert.equal(response.status, 200, response.text);
    const mail = (await mails(email)).find(({ id, kind }) => kind === 'magic-link' && !before.has(id));
    return {
      token: /[?&]token=([\w-]+)/.exec(mail?.text ?? '')?.[1] ?? '',
      code: /\b(\d{6})\b/.exec(mail?.text ?? '')?.[1] ?? '',
    };
  };
  const signIn = async (email: string): Promise<TokenPair> => {
    const { token } = await requestLink(email);
    const response = await get(`/verify/magic?token=${token}`);
    assert.equal(response.status, 200, response.text);
    return response.json;
  };
  return { call, post, get, mails, requestLink, signIn };
}

async function readMails(database: Database<Tables>, to?: string): Promise<WaitingMail[]> {
  const encryption = new Encryption(new Keys(secret, undefined).keysFor('queue'));
  const rows = await database.kysely.selectFrom('email_queue').selectAll().orderBy('created_at_ms').execute();
  return rows
    .filter(({ recipient }) => to === undefined || recipient === to)
    .map((row) => ({
      id: row.id,
      kind: row.kind,
      to: row.recipient,
      subject: row.subject,
      text: encryption.decryptText(row.text_body, `${row.id}:text`) ?? row.text_body,
      html: encryption.decryptText(row.html_body, `${row.id}:html`) ?? row.html_body,
    }));
}

export async function dropSchema(url: string): Promise<void> {
  const { default: pg } = await import('pg');
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('DROP SCHEMA IF EXISTS passwordless CASCADE');
  await client.end();
}

/** Asserts an error response. */
export function refused(response: TestResponse, status: number, code: string): void {
  assert.equal(response.status, status, response.text);
  const { error, ...rest } = response.json;
  assert.deepEqual(rest, {});
  assert.deepEqual(Object.keys(error), ['code', 'message']);
  assert.equal(error.code, code, response.text);
  assert.ok(error.message.length > 0);
}

/** The claims of a token, not verified. */
// biome-ignore lint/suspicious/noExplicitAny: tests read any claim
export function claimsOf(token: string): any {
  return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
}

/** Sets up an authenticator app and gives its secret and what its first code was returned. */
export async function enrollApp(
  service: TestService,
  email: string,
  token?: string,
): Promise<{ secret: string; response: TestResponse }> {
  const enrolled = await service.post('/totp/enroll', { email }, token);
  assert.equal(enrolled.status, 200, enrolled.text);
  const { secret } = enrolled.json;
  const code = appCode(secret, service.clock);
  return { secret, response: await service.post('/totp/verify', { email, code }) };
}
