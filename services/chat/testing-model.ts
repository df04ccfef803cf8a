import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Handles one request to the scripted model. */
export type Script = (answer: ModelReply, request: ModelCall) => Promise<void> | void;

/** The body of a request to the model. */
export interface ModelCall {
  readonly model: string;
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
  readonly max_tokens?: number;
  readonly stop?: readonly string[];
  readonly temperature?: number;
  readonly top_p?: number;
  readonly seed?: number;
}

/** A server with OpenAI's API that says what a test tells it to. */
export interface TestModel extends AsyncDisposable {
  readonly url: string;
  readonly calls: ModelCall[];
  /** For all questions from now on. */
  script: Script;
  /** Responses of the server about itself, by path; none by default. */
  about: Readonly<Record<string, unknown>>;
}

/** One streamed answer. */
export class ModelReply {
  readonly #response: ServerResponse;
  /** Settles when the client is gone. */
  readonly closed: Promise<unknown>;

  constructor(response: ServerResponse) {
    this.#response = response;
    this.closed = once(response, 'close');
  }

  text(...pieces: string[]): this {
    for (const content of pieces) this.#chunk({ delta: { role: 'assistant', content } });
    return this;
  }

  callTool(name: string, params: object): void {
    const call = {
      index: 0,
      id: 'call_1',
      type: 'function',
      function: { name, arguments: JSON.stringify(params) },
    };
    this.#chunk({ delta: { role: 'assistant', tool_calls: [call] } });
    this.end('tool_calls');
  }

  end(finish_reason = 'stop'): void {
    this.#chunk({ delta: {}, finish_reason });
    this.#send({ choices: [], usage: { prompt_tokens: 100, completion_tokens: 7, total_tokens: 107 } });
    this.#response.end('data: [DONE]\n\n');
  }

  fail(status: number): void {
    this.#response.writeHead(status, { 'content-type': 'application/json' });
    this.#response.end('{"error":{"message":"broken"}}');
  }

  /** Goes on as fast as it is read, and resolves to how many bytes were taken when the client is gone. */
  async goOn(choice: object): Promise<number> {
    this.#chunk(choice);
    return this.pour(
      `data: ${JSON.stringify(chunkOf({ choices: [{ index: 0, finish_reason: null, ...choice }] }))}\n\n`,
    );
  }

  /** Sends a text again and again, and resolves to how many bytes were taken when the client is gone. */
  async pour(text: string, status = 200): Promise<number> {
    const response = this.#response;
    if (!response.headersSent) response.writeHead(status, { 'content-type': 'text/event-stream' });
    const bytes = Buffer.from(text.repeat(Math.ceil(16_384 / text.length)));
    let count = 0;
    while (!response.closed && count < pouredMax) {
      count += bytes.length;
      if (!response.write(bytes)) await Promise.race([once(response, 'drain'), this.closed]);
    }
    response.destroy();
    return count;
  }

  breakOff(): void {
    this.#response.destroy();
  }

  raw(text: string, status = 200, headers: Readonly<Record<string, string>> = {}): void {
    this.#response.writeHead(status, { 'content-type': 'text/event-stream', ...headers });
    this.#response.end(text);
  }

  #chunk(choice: object): void {
    this.#send({ choices: [{ index: 0, finish_reason: null, ...choice }] });
  }

  #send(more: object): void {
    if (!this.#response.headersSent) this.#response.writeHead(200, { 'content-type': 'text/event-stream' });
    this.#response.write(`data: ${JSON.stringify(chunkOf(more))}\n\n`);
  }
}

/** More than anybody should read. */
const pouredMax = 200 * 1024 * 1024;

function chunkOf(more: object) {
  return { id: 'chunk', object: 'chat.completion.chunk', created: 1, model: 'scripted', ...more };
}

export async function startModel(): Promise<TestModel> {
  const server = createServer(async (request, response) => {
    if (request.method === 'GET') {
      const told = model.about[request.url ?? ''];
      response.writeHead(told === undefined ? 404 : 200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(told ?? { error: { message: 'not found' } }));
      return;
    }
    const call = JSON.parse(await bodyOf(request)) as ModelCall;
    model.calls.push(call);
    await model.script(new ModelReply(response), call);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const model: TestModel = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    calls: [],
    about: {},
    script: (answer) => answer.text('Nothing was scripted.').end(),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return model;
}

/** Lets each answer begin and not end. `count` resolves to those that have begun, once there are that many. */
export function holdAnswers(model: TestModel) {
  const begun: ModelReply[] = [];
  let wake = () => {};
  model.script = (answer) => {
    begun.push(answer.text('Everybody has ', '27 days'));
    wake();
  };
  const count = async (wanted: number) => {
    while (begun.length < wanted)
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    return begun;
  };
  return { begun, count };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}
