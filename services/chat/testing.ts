import { Registry } from 'prom-client';
import { FakeClock } from '#kit/clock.ts';
import { type Environment, readConfig } from '#kit/config.ts';
import { silentLog } from '#kit/log.ts';
import type { ServiceContext } from '#kit/service.ts';
import { testFolder } from '#kit/testing/folder.ts';
import { testMode } from '#kit/testing/mode.ts';
import { chat } from './service.ts';

export interface TestResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test inspects any response
  readonly json: any;
}

export interface TestFile {
  readonly name: string;
  readonly content: string | Uint8Array<ArrayBuffer>;
}

export interface TestChat extends AsyncDisposable {
  readonly url: string;
  readonly clock: FakeClock;
  readonly context: ServiceContext;
  /** Where its data is, for `loadHandbook`. */
  readonly environment: Environment;
  send(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<TestResponse>;
  upload(files: readonly TestFile[], fields?: Readonly<Record<string, string>>): Promise<TestResponse>;
}

/** The service on a free port. */
export async function startChat(given: Environment = {}): Promise<TestChat> {
  const { databaseUrl = '' } = await testMode();
  const environment = {
    ...{ DATABASE_URL: databaseUrl, CHAT_SECRET: 'the secret of the tests, which is long enough' },
    ...{ CHAT_RATE_LIMIT: '0', UPLOAD_RATE_LIMIT: '0', SESSION_RATE_LIMIT: '0', READ_RATE_LIMIT: '0' },
    ...given,
  };
  const clock = new FakeClock();
  const context: ServiceContext = {
    ...{ log: silentLog, clock, dataFolder: testFolder('chat'), environment: 'test' },
    ...{ metrics: new Registry(), host: '127.0.0.1', port: 0 },
  };
  const running = await chat.start(readConfig(chat.settings, environment), context, {});
  const url = running.url ?? '';
  const request = async (path: string, init: RequestInit): Promise<TestResponse> => {
    const response = await fetch(`${url}${path}`, init);
    const { status, headers } = response;
    const text = await response.text();
    return { status, headers, text, json: parsed(text) };
  };
  return {
    ...{ url, clock, context, environment },
    send(method, path, body, headers = {}) {
      const type = body === undefined ? undefined : { 'content-type': 'application/json' };
      return request(path, { method, headers: { ...type, ...headers }, body: JSON.stringify(body) });
    },
    upload(files, fields = {}) {
      const form = new FormData();
      for (const [name, value] of Object.entries(fields)) form.append(name, value);
      for (const { name, content } of files) form.append('file', new Blob([content]), name);
      return request('/api/upload', { method: 'POST', body: form });
    },
    [Symbol.asyncDispose]: () => running[Symbol.asyncDispose](),
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
