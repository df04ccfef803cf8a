import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { Registry } from 'prom-client';
import { FakeClock } from '#kit/clock.ts';
import { type Environment, readConfig } from '#kit/config.ts';
import { type Database, type DatabaseOptions, openDatabase } from '#kit/db/index.ts';
import { createLog, silentLog } from '#kit/log.ts';
import type { ServiceContext } from '#kit/service.ts';
import { testFolder } from '#kit/testing/folder.ts';
import { testDatabaseUrl } from '#kit/testing/postgres.ts';
import { Encryption } from './encryption.ts';
import { Keys } from './keys.ts';
import { passwordless } from './service.ts';
import type { TokenPair } from './sessions/session.ts';
import type { Tables } from './store.ts';
import { codeAt } from './totp/code.ts';

export const secret = 'the secret of the tests, which is long enough';
export const alice = 'alice@example.com';
export const bob = 'bob@example.com';
export const charlie = 'charlie@example.com';

/** What the tests run on. */
export interface World {
  /** PostgreSQL, or SQLite where it is empty. */
  readonly databaseUrl: string | undefined;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into any answer
  readonly json: any;
}

export interface CallOptions {
  /** Text is sent as it is, anything else as JSON. */
  readonly body?: unknown;
  readonly token?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A mail that waits, in the clear. */
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
  /** What was logged. */
  readonly lines: Record<string, unknown>[];
  readonly database: Database<Tables>;
  readonly databaseOptions: DatabaseOptions;
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  post(path: string, body?: unknown, token?: string): Promise<Answer>;
  get(path: string, token?: string): Promise<Answer>;
  /** Mails that wait, oldest first: tests run without a worker unless they say otherwise. */
  mails(to?: string): Promise<WaitingMail[]>;
  /** Asks for a magic link and gives what came by mail. */
  requestLink(email: string, token?: string): Promise<{ token: string; code: string }>;
  /** Signs in by a magic link. */
  signIn(email: string): Promise<TokenPair>;
}

export interface StartOptions {
  readonly environment?: Environment;
  /** Another web process on the data of this one. */
  readonly beside?: TestService;
  readonly nodeEnv?: ServiceContext['environment'];
  /** Address to listen on. */
  readonly host?: string;
}

/** Runs the tests on both databases. */
export async function onBothDatabases(tests: (world: World) => void): Promise<void> {
  if (process.env.TEST_DATABASE !== 'postgres')
    describe('on SQLite', () => tests({ databaseUrl: undefined }));
  if (process.env.TEST_DATABASE === 'sqlite') return;
  const postgres = await testDatabaseUrl();
  describe('on PostgreSQL', { skip: postgres.skip }, () => tests({ databaseUrl: postgres.url }));
}

const noLimits = {
  PASSWORDLESS_LIMIT_POST_PER_IP: '0',
  PASSWORDLESS_LIMIT_MAGIC_PER_IP: '0',
  PASSWORDLESS_LIMIT_MAGIC_PER_ADDRESS: '0',
  PASSWORDLESS_LIMIT_ENROLL_PER_IP: '0',
  PASSWORDLESS_LIMIT_VERIFY_PER_IP: '0',
  PASSWORDLESS_LIMIT_REFRESH_PER_IP: '0',
};

/** The service on a free port with an empty database, without limits by address and without a worker. It stops after the test. */
export async function startService(
  t: { after(end: () => Promise<void>): void },
  world: World,
  { environment = {}, beside, nodeEnv = 'test', host = '127.0.0.1' }: StartOptions = {},
): Promise<TestService> {
  const dataFolder = beside?.dataFolder ?? testFolder('passwordless');
  if (world.databaseUrl && !beside) await dropSchema(world.databaseUrl);
  const clock = beside?.clock ?? new FakeClock();
  const lines: Record<string, unknown>[] = [];
  const log = createLog({
    service: 'passwordless',
    destination: { write: (line) => lines.push(JSON.parse(line)) },
  });
  const config = readConfig(passwordless.settings, {
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

/** Where the service keeps its data. */
export function databaseOptionsOf(config: Config, context: ServiceContext): DatabaseOptions {
  const options = passwordless.database?.(config, context);
  assert.ok(options);
  return options;
}

/** Calls a service and reads the mails that wait in its database. */
export type Client = Pick<TestService, 'call' | 'post' | 'get' | 'mails' | 'requestLink' | 'signIn'>;

export function clientOf(url: string, database: Database<Tables>): Client {
  const call = async (method: string, path: string, options: CallOptions = {}): Promise<Answer> => {
    const { body, token, headers = {} } = options;
    const isRaw = typeof body === 'string' || body === undefined;
    const response = await fetch(`${url}${path}`, {
      method,
      redirect: 'manual',
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      body: isRaw ? body : JSON.stringify(body),
    });
    return answerOf(response);
  };
  const post = (path: string, body?: unknown, token?: string) => call('POST', path, { body, token });
  const get = (path: string, token?: string) => call('GET', path, { token });
  const mails = (to?: string) => readMails(database, to);
  const requestLink = async (email: string, token?: string) => {
    const former = new Set((await mails(email)).map(({ id }) => id));
    const answer = await post('/request/magic', { email }, token);
    assert.equal(answer.status, 200, answer.text);
    const mail = (await mails(email)).find(({ id, kind }) => kind === 'magic-link' && !former.has(id));
    return {
      token: /[?&]token=([\w-]+)/.exec(mail?.text ?? '')?.[1] ?? '',
      code: /\b(\d{6})\b/.exec(mail?.text ?? '')?.[1] ?? '',
    };
  };
  const signIn = async (email: string): Promise<TokenPair> => {
    const { token } = await requestLink(email);
    const answer = await get(`/verify/magic?token=${token}`);
    assert.equal(answer.status, 200, answer.text);
    return answer.json;
  };
  return { call, post, get, mails, requestLink, signIn };
}

async function readMails(database: Database<Tables>, to?: string): Promise<WaitingMail[]> {
  const encryption = new Encryption(new Keys(secret, undefined).all('queue'));
  const rows = await database.kysely.selectFrom('email_queue').selectAll().orderBy('created_at_ms').execute();
  return rows
    .filter(({ recipient }) => to === undefined || recipient === to)
    .map((row) => ({
      id: row.id,
      kind: row.kind,
      to: row.recipient,
      subject: row.subject,
      text: encryption.decrypt(row.text_body, `${row.id}:text`) ?? row.text_body,
      html: encryption.decrypt(row.html_body, `${row.id}:html`) ?? row.html_body,
    }));
}

export async function dropSchema(url: string): Promise<void> {
  const { default: pg } = await import('pg');
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('DROP SCHEMA IF EXISTS passwordless CASCADE');
  await client.end();
}

async function answerOf(response: Response): Promise<Answer> {
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    text,
    get json() {
      return JSON.parse(text);
    },
  };
}

/** Waits for what happens after an answer, two seconds at most. */
export async function eventually(check: () => Promise<void>): Promise<void> {
  for (const untilMs = performance.now() + 2_000; ; ) {
    try {
      return await check();
    } catch (error) {
      if (performance.now() > untilMs) throw error;
    }
    await setTimeout(5);
  }
}

/** Asserts an error in its one shape. */
export function refused(answer: Answer, status: number, code: string): void {
  assert.equal(answer.status, status, answer.text);
  const { error, ...rest } = answer.json;
  assert.deepEqual(rest, {});
  assert.deepEqual(Object.keys(error), ['code', 'message']);
  assert.equal(error.code, code, answer.text);
  assert.ok(error.message.length > 0);
}

/** The claims of a token, unverified. */
// biome-ignore lint/suspicious/noExplicitAny: a test looks into any claim
export function claimsOf(token: string): any {
  return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
}

const base32Digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** The code that an authenticator app shows: `steps` of 30 seconds from the time of the clock. */
export function appCode(secretText: string, clock: FakeClock, steps = 0): string {
  const bits = [...secretText]
    .map((digit) => base32Digits.indexOf(digit).toString(2).padStart(5, '0'))
    .join('');
  const bytes = Array.from({ length: Math.floor(bits.length / 8) }, (_, index) =>
    Number.parseInt(bits.slice(index * 8, index * 8 + 8), 2),
  );
  return codeAt(Uint8Array.from(bytes), Math.floor(clock.now() / 30_000) + steps);
}

/** Sets up an authenticator app and gives its secret and what its first code was answered. */
export async function enrollApp(
  service: TestService,
  email: string,
  token?: string,
): Promise<{ secret: string; answer: Answer }> {
  const enrolled = await service.post('/totp/enroll', { email }, token);
  assert.equal(enrolled.status, 200, enrolled.text);
  const { secret } = enrolled.json;
  const code = appCode(secret, service.clock);
  return { secret, answer: await service.post('/totp/verify', { email, code }) };
}
