import { boundedFetch, type Clock } from '@octavo/core';
import { EmbeddingClient, noMetrics, type VectorSource } from '../embeddings/index.ts';
import { type ChatModel, causeOf, causes } from '../model/index.ts';
import type { CrossEncoder } from '../retrieval/index.ts';
import { type Connection, modelNameMax, modelNames } from './connection.ts';

/** A server that was asked for its models. */
export interface FoundServer {
  readonly baseUrl: string;
  readonly models: readonly string[];
}

/** One question as a model answered it. */
export interface Trial {
  readonly text: string;
  readonly firstTokenMs: number;
  /** Undefined for an answer that came in one piece. */
  readonly tokensPerSecond: number | undefined;
}

/** A server does not do what is needed, in a sentence for administrators. */
export class ServerProblem extends Error {
  override readonly name = 'ServerProblem';
  /** True if a server is there, without a list of models. */
  readonly isWithoutList: boolean;

  constructor(message: string, isWithoutList = false) {
    super(message);
    this.isWithoutList = isWithoutList;
  }
}

const bytesMax = 1024 * 1024;
const modelsMax = 200;
const listMs = 5_000;
const findMs = 1_000;
const trialMs = 180_000;
/** Time for the first vectors, while their model is loaded. */
const vectorsMs = 60_000;
const trialTokensMax = 100;
const trialTextMax = 500;

/** Ports where Ollama, LM Studio, llama.cpp, vLLM and Jan listen. */
const usualPorts = [11434, 1234, 8080, 8000, 1337];

/** The servers of this machine that list models. */
export async function findServers(ports: readonly number[] = usualPorts): Promise<FoundServer[]> {
  const asked = ports.map(async (port): Promise<FoundServer[]> => {
    const baseUrl = `http://127.0.0.1:${port}/v1`;
    try {
      return [{ baseUrl, models: await modelsAt(baseUrl, undefined, findMs) }];
    } catch {
      return [];
    }
  });
  return (await Promise.all(asked)).flat();
}

/** The models of a server, at its address or at `/v1` below. Throws a `ServerProblem`. */
export async function listModels(
  address: string,
  apiKey: string | undefined,
  timeoutMs = listMs,
): Promise<FoundServer> {
  try {
    return { baseUrl: address, models: await modelsAt(address, apiKey, timeoutMs) };
  } catch (error) {
    if (/\/v\d+$/.test(address)) throw error;
    const baseUrl = `${address}/v1`;
    return { baseUrl, models: await modelsAt(baseUrl, apiKey, timeoutMs).catch(() => Promise.reject(error)) };
  }
}

/** A server that may have no list of models, as those of rerankers and of embeddings. Throws a `ServerProblem`. */
export async function findServer(address: string, apiKey: string | undefined): Promise<FoundServer> {
  try {
    return await listModels(address, apiKey);
  } catch (error) {
    if (error instanceof ServerProblem && error.isWithoutList) return { baseUrl: address, models: [] };
    throw error;
  }
}

/** The models of a connection. Throws a `ServerProblem` where one is not listed, or where the API is at another address. */
export async function checkListed(connection: Connection): Promise<readonly string[]> {
  const { baseUrl: found, models } = await listModels(connection.baseUrl, connection.apiKey);
  if (found !== connection.baseUrl.replace(/\/+$/, '')) throw new ServerProblem(`The API is at ${found}.`);
  const names = modelNames(connection);
  const missing = names.filter((name) => !models.includes(name) && !models.includes(`${name}:latest`));
  if (missing.length > 0) throw new ServerProblem(`The server does not have ${missing.join(', ')}.`);
  return names;
}

async function modelsAt(baseUrl: string, apiKey: string | undefined, timeoutMs: number): Promise<string[]> {
  const headers = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const response = await boundedFetch(bytesMax)(`${baseUrl}/models`, {
      headers,
      signal,
      // A redirect could take the key elsewhere.
      redirect: 'manual',
    });
    if (!response.ok) {
      await response.body?.cancel();
      throw new ServerProblem(problemOfStatus(response.status), [404, 405].includes(response.status));
    }
    return namesIn(await response.json());
  } catch (error) {
    if (error instanceof ServerProblem) throw error;
    if (signal.aborted) throw new ServerProblem('The server took too long to list its models.');
    if (error instanceof SyntaxError || (error as Error).name === 'ResponseTooLarge')
      throw new ServerProblem('What answers at this address is no list of models.');
    throw new ServerProblem('No server answers at this address.');
  }
}

function problemOfStatus(status: number): string {
  if (status === 401 || status === 403) return 'The server refuses the key.';
  if (status >= 300 && status < 400)
    return 'The server sends on to another address, which is not followed. Enter that one.';
  if (status === 404) return 'The server has no list of models at this address. It may lack /v1 at its end.';
  return `The server answered with status ${status}.`;
}

function namesIn(body: unknown): string[] {
  const { data } = (body ?? {}) as { readonly data?: unknown };
  if (!Array.isArray(data)) throw new ServerProblem('What answers at this address is no list of models.');
  const names = data.flatMap((each: { readonly id?: unknown } | null) =>
    typeof each?.id === 'string' && isModelName(each.id) ? [each.id] : [],
  );
  if (names.length === 0) throw new ServerProblem('The server has no model yet. Load one there first.', true);
  return names.slice(0, modelsMax);
}

/** One question with two passages as a server ordered them. */
export interface OrderTrial {
  readonly ms: number;
  /** True if the passage that answers the question came first. */
  readonly isRight: boolean;
}

export interface EmbeddingsTrial extends OrderTrial {
  /** The size of its vectors. */
  readonly dimensions: number;
}

const trialQuestion = 'When does the office open on Fridays?';
const trialPassages = ['The canteen serves lunch at noon.', 'The office opens at 8:30, on Fridays at 9:00.'];

/** Asks a server for the vectors of three short texts that hold nothing of the documents. Throws a `ServerProblem`. */
export async function tryEmbeddings(
  source: VectorSource,
  clock: Clock,
  timeoutMs = vectorsMs,
): Promise<EmbeddingsTrial> {
  const startMs = performance.now();
  const client = new EmbeddingClient({ source, timeoutMs, clock, metrics: noMetrics });
  try {
    const [question, ...passages] = await client.questions([trialQuestion, ...trialPassages]);
    const [other = 0, right = 0] = passages.map((passage) =>
      passage.reduce((sum, value, place) => sum + value * (question?.[place] ?? 0), 0),
    );
    return {
      ms: Math.round(performance.now() - startMs),
      isRight: right > other,
      dimensions: question?.length ?? 0,
    };
  } catch (error) {
    throw new ServerProblem(`${source.title} ${(error as Error).message}.`);
  }
}

/** Asks a reranker one question that holds nothing of the documents. Throws a `ServerProblem`. */
export async function tryReranker(reranker: CrossEncoder): Promise<OrderTrial> {
  const startMs = performance.now();
  const ranked = trialPassages.map((text) => ({ text, rankScore: 0.5 }));
  try {
    const [other, right] = await reranker.rank(trialQuestion, ranked);
    const isRight = (right?.rankScore ?? 0) > (other?.rankScore ?? 0);
    return { ms: Math.round(performance.now() - startMs), isRight };
  } catch (error) {
    throw new ServerProblem(`The reranker ${(error as Error).message}.`);
  }
}

export function isModelName(name: string): boolean {
  return name !== '' && name.length <= modelNameMax && !/[\p{Cc},]/u.test(name);
}

/** Asks a model one question that holds nothing of the documents. Throws a `ServerProblem`. */
export async function tryModel(model: ChatModel): Promise<Trial> {
  const startMs = performance.now();
  let text = '';
  let pieces = 0;
  let tokens = 0;
  let firstMs: number | undefined;
  try {
    const parts = model.stream({
      name: model.defaultName,
      system: 'Answer in one sentence, from the source only.',
      messages: [
        {
          role: 'user',
          content: `Source [1]: ${trialPassages[1]}\n\n${trialQuestion}`,
        },
      ],
      tools: [],
      maxTokens: trialTokensMax,
      signal: AbortSignal.timeout(trialMs),
    });
    for await (const part of parts) {
      if ('finish' in part) tokens = part.usage?.output_tokens ?? 0;
      else {
        firstMs ??= performance.now();
        pieces++;
        if ('text' in part && text.length < trialTextMax) text += part.text;
      }
    }
  } catch (error) {
    throw new ServerProblem(causes[causeOf(error)]);
  }
  if (firstMs === undefined) throw new ServerProblem('The model ended without a word.');
  const seconds = (performance.now() - firstMs) / 1_000;
  return {
    text: text.trim().slice(0, trialTextMax),
    firstTokenMs: Math.round(firstMs - startMs),
    tokensPerSecond: pieces > 1 && seconds > 0 ? Math.round((tokens || pieces) / seconds) : undefined,
  };
}
