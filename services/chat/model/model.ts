import { boundedFetch } from '@octavo/core';
import type { LanguageModel, ToolSet } from 'ai';
import type { PromptMessage } from './prompt.ts';

export interface ModelOptions {
  /** Of a server with OpenAI's API, such as `http://127.0.0.1:11434/v1`. */
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
  /** The first is the default. */
  readonly names: readonly string[];
  readonly timeoutMs: number;
  /** Tokens that it reads and writes at most. */
  readonly contextTokens?: number;
  /** Of one answer, including data that is never shown; a quarter of a kilobyte per token is usual. */
  readonly responseBytesMax?: number;
}

export interface ToolOffer {
  readonly name: string;
  readonly description: string;
  /** JSON Schema. */
  readonly parameters: Readonly<Record<string, unknown>>;
  call(params: Readonly<Record<string, unknown>>): Promise<unknown>;
}

/** Choices of a client for how a model writes. */
export interface Sampling {
  readonly temperature?: number | undefined;
  readonly topP?: number | undefined;
  readonly seed?: number | undefined;
}

export interface ModelRequest extends Sampling {
  /** The model's own tokens, at most. */
  readonly maxTokens?: number | undefined;
  /** Texts before which it ends. */
  readonly stop?: readonly string[] | undefined;
  readonly name: string;
  readonly system: string;
  readonly messages: readonly PromptMessage[];
  readonly tools: readonly ToolOffer[];
  readonly signal: AbortSignal;
}

export interface ModelUsage {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly total_tokens: number;
}

export type ModelPart =
  | { readonly text: string }
  | { readonly finish: 'stop' | 'length'; readonly usage: ModelUsage | null };

const stepsMax = 6;
/** Context of Ollama unless it is told otherwise. */
export const usualContextTokens = 4_096;
const outputTokensMax = 2_048;
const usualResponseBytesMax = 8 * 1024 * 1024;

/** A language model behind OpenAI's API, by the `ai` library, which is loaded at the first question. */
export class ChatModel {
  readonly names: readonly string[];
  /** True if the last answer came; undefined before the first one. */
  isAvailable: boolean | undefined;
  readonly #options: ModelOptions;

  constructor(options: ModelOptions) {
    this.names = options.names;
    this.#options = options;
  }

  get contextTokens(): number {
    return this.#options.contextTokens ?? usualContextTokens;
  }

  get defaultName(): string {
    return this.names[0] ?? '';
  }

  /**
   * The parts of an answer as they come. Throws if the model fails, or is silent for longer than the timeout. Leaving the loop stops the
   * request.
   */
  async *stream(request: ModelRequest): AsyncGenerator<ModelPart> {
    const { streamText, stepCountIs } = await import('ai');
    const silence = new Watchdog(this.#options.timeoutMs);
    const left = new AbortController();
    const tools = await toolSet(request.tools);
    try {
      const { fullStream } = streamText({
        model: await this.#open(request.name),
        system: request.system,
        messages: [...request.messages],
        ...(request.tools.length > 0 && { tools, stopWhen: stepCountIs(stepsMax) }),
        abortSignal: AbortSignal.any([request.signal, silence.signal, left.signal]),
        maxRetries: 0,
        maxOutputTokens: Math.min(request.maxTokens ?? outputTokensMax, outputTokensMax),
        temperature: request.temperature ?? 0.2,
        ...(request.topP !== undefined && { topP: request.topP }),
        ...(request.seed !== undefined && { seed: request.seed }),
        ...(request.stop && { stopSequences: [...request.stop] }),
        // Errors are parts of the stream.
        onError: () => undefined,
      });
      for await (const part of fullStream) {
        // Tools have limits of their own.
        if (part.type === 'tool-call') silence.pause();
        else silence.feed();
        if (part.type === 'error') throw part.error;
        if (part.type === 'abort') throw request.signal.reason ?? silence.signal.reason;
        if (part.type === 'text-delta' && part.text !== '') yield { text: part.text };
        if (part.type === 'finish') {
          if (part.finishReason === 'error') throw new Error('the model failed');
          this.isAvailable = true;
          yield {
            finish: part.finishReason === 'length' ? 'length' : 'stop',
            usage: usageOf(part.totalUsage),
          };
        }
      }
      request.signal.throwIfAborted();
      silence.signal.throwIfAborted();
    } catch (error) {
      if (!request.signal.aborted) this.isAvailable = false;
      throw error;
    } finally {
      silence.pause();
      left.abort();
    }
  }

  async #open(name: string): Promise<LanguageModel> {
    const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
    const { extractReasoningMiddleware, wrapLanguageModel } = await import('ai');
    const { baseUrl: baseURL, apiKey, responseBytesMax = usualResponseBytesMax } = this.#options;
    const provider = createOpenAICompatible({
      name: 'llm',
      baseURL,
      includeUsage: true,
      fetch: boundedFetch(responseBytesMax),
      ...(apiKey !== undefined && { apiKey }),
    });
    // What a model thinks to itself is never shown.
    const middleware = extractReasoningMiddleware({ tagName: 'think' });
    return wrapLanguageModel({ model: provider.chatModel(name), middleware });
  }
}

/** Aborts when it was not fed for a while. */
class Watchdog {
  readonly #stop = new AbortController();
  readonly #timeoutMs: number;
  #timer: NodeJS.Timeout | undefined;

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
    this.feed();
  }

  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  feed(): void {
    clearTimeout(this.#timer);
    const giveUp = () => this.#stop.abort(new DOMException('The model is silent.', 'TimeoutError'));
    this.#timer = setTimeout(giveUp, this.#timeoutMs);
  }

  pause(): void {
    clearTimeout(this.#timer);
  }
}

async function toolSet(offers: readonly ToolOffer[]): Promise<ToolSet> {
  const { jsonSchema, tool } = await import('ai');
  return Object.fromEntries(
    offers.map(({ name, description, parameters, call }) => [
      name,
      tool({
        description,
        inputSchema: jsonSchema<Record<string, unknown>>(parameters),
        execute: (params) => call(params),
      }),
    ]),
  );
}

function usageOf(usage: {
  inputTokens: number | undefined;
  outputTokens: number | undefined;
  totalTokens: number | undefined;
}): ModelUsage | null {
  const { inputTokens = 0, outputTokens = 0 } = usage;
  if (inputTokens + outputTokens === 0) return null;
  return {
    input_tokens: inputTokens,
    output_tokens: outputTokens,
    total_tokens: usage.totalTokens ?? inputTokens + outputTokens,
  };
}
