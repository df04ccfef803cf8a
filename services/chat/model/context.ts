import { boundedFetch } from '@octavo/core';

const probeMs = 1_000;
const probeBytesMax = 4 * 1024 * 1024;

/** A server with OpenAI's API. */
export interface ModelServer {
  /** Such as `http://127.0.0.1:11434/v1`. */
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
}

/**
 * The number of tokens that a server lets a model read and write, where it tells: vLLM with its models, llama.cpp with its properties,
 * Ollama and LM Studio with the models that are loaded. Resolves to undefined if it does not, also while a model is not loaded yet.
 */
export async function contextOf(server: ModelServer, name: string): Promise<number | undefined> {
  try {
    return await contextTold(server, name);
  } catch {
    // It answers with something else than lists of models.
    return undefined;
  }
}

async function contextTold(server: ModelServer, name: string): Promise<number | undefined> {
  const root = server.baseUrl.replace(/\/+$/, '');
  const own = root.replace(/\/v1$/, '');
  const [models, properties, running, loaded] = await Promise.all([
    get<Models>(`${root}/models`, server),
    get<Properties>(`${own}/props`, server),
    get<Running>(`${own}/api/ps`, server),
    get<Models>(`${own}/api/v0/models`, server),
  ]);
  const isNamed = (each: { readonly id?: string; readonly name?: string; readonly model?: string }) =>
    [each.id, each.name, each.model].some((one) => one === name || one === `${name}:latest`);
  const told = [
    models?.data?.find(isNamed)?.max_model_len,
    properties?.default_generation_settings?.n_ctx,
    running?.models?.find(isNamed)?.context_length,
    loaded?.data?.find(isNamed)?.loaded_context_length,
  ];
  return told.find((tokens) => typeof tokens === 'number' && tokens >= 256);
}

interface Models {
  readonly data?: readonly {
    readonly id?: string;
    readonly max_model_len?: number;
    readonly loaded_context_length?: number;
  }[];
}

interface Properties {
  readonly default_generation_settings?: { readonly n_ctx?: number };
}

interface Running {
  readonly models?: readonly {
    readonly name?: string;
    readonly model?: string;
    readonly context_length?: number;
  }[];
}

/** Resolves to undefined for a server that has no such page, or does not answer soon. */
async function get<T>(url: string, { apiKey }: ModelServer): Promise<T | undefined> {
  try {
    const headers = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
    const response = await boundedFetch(probeBytesMax)(url, {
      headers,
      signal: AbortSignal.timeout(probeMs),
    });
    if (response.ok) return (await response.json()) as T;
    await response.body?.cancel();
    return undefined;
  } catch {
    return undefined;
  }
}
