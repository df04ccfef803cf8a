import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request for vectors. */
export interface EmbeddingCall {
  readonly model: string;
  readonly input: readonly string[];
  readonly dimensions?: number;
  readonly authorization: string | undefined;
}

/** Handles one request to the server. */
export type EmbeddingScript = (reply: EmbeddingReply, call: EmbeddingCall) => Promise<void> | void;

/** A server with OpenAI's embeddings that does what a test tells it to. */
export interface TestEmbeddings extends AsyncDisposable {
  readonly url: string;
  readonly calls: EmbeddingCall[];
  /** For all requests from now on. */
  script: EmbeddingScript;
  /** Models that it lists. */
  models: readonly string[];
}

/** Words with one meaning, which have one dimension. Others share the last one. */
const meanings = [
  ['ferry', 'boat', 'vessel', 'ship'],
  ['leave', 'holiday', 'vacation'],
  ['salary', 'pay', 'wage'],
  ['bread', 'loaf', 'bakery'],
];

/** The vector of a text in that server, with zeros to fill it up. */
export function meaningOf(text: string, dimensions = 8): number[] {
  const vector = Array.from({ length: dimensions }, () => 0);
  for (const word of text.toLowerCase().match(/[a-z]+/g) ?? []) {
    const at = meanings.findIndex((words) => words.includes(word));
    if (at >= 0) vector[at] = (vector[at] ?? 0) + 1;
    else vector[dimensions - 1] = (vector[dimensions - 1] ?? 0) + 0.01;
  }
  return vector;
}

export class EmbeddingReply {
  readonly #response: ServerResponse;

  constructor(response: ServerResponse) {
    this.#response = response;
  }

  vectors(vectors: readonly (readonly number[])[]): void {
    const data = vectors.map((embedding, index) => ({ object: 'embedding', index, embedding }));
    this.#send(200, JSON.stringify({ object: 'list', data, usage: { prompt_tokens: 1, total_tokens: 1 } }));
  }

  raw(text: string): void {
    this.#send(200, text);
  }

  fail(status: number): void {
    this.#send(status, '{"error":{"message":"broken"}}');
  }

  #send(status: number, text: string): void {
    this.#response.writeHead(status, { 'content-type': 'application/json' });
    this.#response.end(text);
  }
}

export const byMeaning: EmbeddingScript = (reply, { input, dimensions }) =>
  reply.vectors(input.map((text) => meaningOf(text, dimensions)));

export async function startEmbeddings(): Promise<TestEmbeddings> {
  const server = createServer(async (request, response) => {
    if (request.method === 'GET') {
      const data = embeddings.models.map((id) => ({ id }));
      return response.writeHead(request.url === '/v1/models' ? 200 : 404).end(JSON.stringify({ data }));
    }
    const { authorization } = request.headers;
    const call: EmbeddingCall = { ...JSON.parse(await bodyOf(request)), authorization };
    embeddings.calls.push(call);
    await embeddings.script(new EmbeddingReply(response), call);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const embeddings: TestEmbeddings = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    calls: [],
    script: byMeaning,
    models: ['scripted', 'another'],
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return embeddings;
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}
