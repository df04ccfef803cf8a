import assert from 'node:assert/strict';
import type { Environment } from '@octavo/core';
import { FakeClock } from '@octavo/core';
import { silentLog } from '@octavo/core/log';
import type { ServiceContext } from '@octavo/data/service';
import {
  type StartOptions,
  sendRequest,
  type TestResponse,
  testConfig,
  testContext,
  testFolder,
  testMode,
} from '@octavo/testing';
import { chat } from './service.ts';

export interface TestFile {
  readonly name: string;
  readonly content: string | Uint8Array<ArrayBuffer>;
}

export interface TestChat extends AsyncDisposable {
  readonly url: string;
  readonly clock: FakeClock;
  readonly context: ServiceContext;
  /** Environment with its data, for `loadHandbook`. */
  readonly environment: Environment;
  send(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<TestResponse>;
  upload(
    files: readonly TestFile[],
    fields?: Readonly<Record<string, string>>,
    headers?: Record<string, string>,
  ): Promise<TestResponse>;
}

/** The service on a free port; `beside` another one, on the data and by the clock of that one. */
export async function startChat(
  options: Pick<StartOptions<TestChat>, 'environment' | 'beside' | 'log'> = {},
): Promise<TestChat> {
  const { environment: given = {}, beside, log = silentLog } = options;
  const DATABASE_URL = beside ? beside.environment.DATABASE_URL : ((await testMode()).databaseUrl ?? '');
  const environment = {
    DATABASE_URL,
    CHAT_SECRET: 'the secret of the tests, which is long enough',
    CHAT_EMBEDDINGS: 'off',
    CHAT_RATE_LIMIT: '0',
    UPLOAD_RATE_LIMIT: '0',
    SESSION_RATE_LIMIT: '0',
    READ_RATE_LIMIT: '0',
    ...given,
  };
  const clock = beside?.clock ?? new FakeClock();
  const dataFolder = beside?.context.dataFolder ?? testFolder('chat');
  const context = testContext('chat', { clock, dataFolder, log });
  const running = await chat.start(testConfig(chat.settings, environment), context, {});
  const url = running.url ?? '';
  return {
    url,
    clock,
    context,
    environment,
    send: (method, path, body, headers) =>
      sendRequest(`${url}${path}`, { method, headers, body: JSON.stringify(body) }),
    upload(files, fields = {}, headers = {}) {
      const form = new FormData();
      for (const [name, value] of Object.entries(fields)) form.append(name, value);
      for (const { name, content } of files) form.append('file', new Blob([content]), name);
      return sendRequest(`${url}/api/upload`, { body: form, headers });
    },
    [Symbol.asyncDispose]: () => running[Symbol.asyncDispose](),
  };
}

/** An event of a streamed answer. */
export interface StreamedEvent {
  readonly id: number;
  readonly event: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test inspects any event
  readonly data: any;
}

/** The events of an answer as they come. */
export async function* eventsOf(
  { url }: TestChat,
  body: object,
  options: { readonly signal?: AbortSignal; readonly lastEventId?: number } = {},
): AsyncGenerator<StreamedEvent> {
  const { signal = null, lastEventId } = options;
  const headers = {
    'content-type': 'application/json',
    accept: 'text/event-stream',
    ...(lastEventId !== undefined && { 'last-event-id': String(lastEventId) }),
  };
  const init = { method: 'POST', headers, body: JSON.stringify(body), signal };
  const response = await fetch(`${url}/api/chat`, init);
  assert.equal(response.headers.get('content-type'), 'text/event-stream; charset=utf-8');
  assert.equal(response.headers.get('cache-control'), 'no-store, no-transform');
  let text = '';
  for await (const piece of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += piece;
    const messages = text.split('\n\n');
    text = messages.pop() ?? '';
    for (const message of messages) {
      const [, id, event, data] = /^id: (\d+)\nevent: (\w+)\ndata: (.*)$/.exec(message) ?? [];
      if (event) yield { id: Number(id), event, data: JSON.parse(data ?? '') };
    }
  }
}
