import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readConfig, systemClock } from '@octavo/core';
import { silentLog } from '@octavo/core/log';
import { testContext } from '@octavo/testing';
import { OpenInferenceClassifier, type OpenInferenceOptions } from '../sentiment/inference/open-inference.ts';
import { posts } from '../service.ts';

export interface After {
  after(work: () => Promise<void> | void): void;
}

export const inferenceToken = 'the token of the inference tests';

/** A post backend that serves the shipped model by the Open Inference protocol; gives its address. */
export async function startInferenceServer(context: After, port = 0): Promise<string> {
  const running = await posts.start(
    readConfig(posts.settings, { RPC_TOKEN: inferenceToken }),
    testContext('posts', { clock: systemClock, port }),
    {},
  );
  context.after(async () => running[Symbol.asyncDispose]());
  return running.url ?? '';
}

/** A server that answers as a test says; gives its address. */
export async function startScriptedServer(
  context: After,
  answer: (request: IncomingMessage, body: string, response: ServerResponse) => unknown,
): Promise<string> {
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await Array.fromAsync(request)).toString();
    const answered = answer(request, body, response);
    if (answered !== undefined) response.end(JSON.stringify(answered));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  context.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

export function inferenceClient(
  url: string,
  options: Partial<OpenInferenceOptions> = {},
): OpenInferenceClassifier {
  return new OpenInferenceClassifier({
    url,
    model: 'octavo-1',
    timeoutMs: 5_000,
    labels: ['negative', 'neutral', 'positive'],
    log: silentLog,
    ...options,
  });
}
