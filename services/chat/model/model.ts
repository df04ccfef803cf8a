import type { Log } from '@octavo/core';
import type { LanguageModel, ToolSet } from 'ai';
import { contextOf, type ModelServer } from './context.ts';
import { modelFetch } from './endpoint.ts';
import { causeOf, causes, type FailureCause } from './failure.ts';
import { LeadingThought } from './leading-thought.ts';
import type { PromptMessage } from './prompt.ts';

export interface ModelOptions extends ModelServer {
  /** The first is the default. */
  readonly names: readonly string[];
  /** Longest silence between two pieces of an answer. */
  readonly timeoutMs: number;
  /** Longest silence before the first piece, while a model is loaded and reads. */
  readonly firstTokenTimeoutMs: number;
  /** Tokens that it reads and writes at most; what its server tells by default. */
  readonly contextTokens?: number | undefined;
  readonly log?: Log;
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
  /** It thinks to itself. */
  | { readonly isThinking: true }
  | { readonly finish: 'stop' | 'length'; readonly usage: ModelUsage | null };

const stepsMax = 6;
/** Context of Ollama unless it is told otherwise. */
export const usualContextTokens = 4_096;
const outputTokensMax = 2_048;
const usualResponseBytesMax = 8 * 1024 * 1024;
/** Time for which it is remembered what a server told of its context, and that a cause of failures was logged. */
const rememberedMs = 60_000;
/** Elements in which models think to themselves. */
const thinkingTags = ['think', 'thinking', 'thought'];

/** A language model behind OpenAI's API, by the `ai` library, which is loaded at the first question. */
export class ChatModel {
  readonly names: readonly string[];
  /** True if the last answer came; undefined before the first one. */
  isAvailable: boolean | undefined;
  /** The cause of the last failure; undefined if the last answer came. */
  failure: FailureCause | undefined;
  /** Tokens of the context as it was last used; undefined before the first answer. */
  knownContext: number | undefined;
  readonly #options: ModelOptions;
  readonly #contexts = new Map<
    string,
    { readonly tokens: Promise<number | undefined>; readonly sinceMs: number }
  >();
  readonly #loggedMs = new Map<FailureCause, number>();
  /** Names of models whose answers begin with a thought. */
  readonly #thinking = new Set<string>();

  constructor(options: ModelOptions) {
    this.names = options.names;
    this.#options = options;
  }

  /** Tokens that a model reads and writes at most: as it is set, or as its server tells, else {@link usualContextTokens}. */
  async contextTokens(name: string): Promise<number> {
    this.knownContext = this.#options.contextTokens ?? (await this.#contextTold(name)) ?? usualContextTokens;
    return this.knownContext;
  }

  async #contextTold(name: string): Promise<number | undefined> {
    const nowMs = performance.now();
    let known = this.#contexts.get(name);
    if (!known || nowMs - known.sinceMs > rememberedMs) {
      known = { tokens: contextOf(this.#options, name), sinceMs: nowMs };
      this.#contexts.set(name, known);
    }
    return known.tokens;
  }

  get defaultName(): string {
    return this.names[0] ?? '';
  }

  /**
   * The parts of an answer as they come. Throws if the model fails, or is silent for longer than the timeouts. Leaving the loop stops the
   * request.
   */
  async *stream(request: ModelRequest): AsyncGenerator<ModelPart> {
    const { streamText, stepCountIs } = await import('ai');
    const { timeoutMs, firstTokenTimeoutMs } = this.#options;
    const silence = new Watchdog();
    silence.feed(firstTokenTimeoutMs);
    const left = new AbortController();
    const tools = await toolSet(request.tools);
    const thought = new LeadingThought(request.name, this.#thinking);
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
        else silence.feed(isPiece(part.type) ? timeoutMs : firstTokenTimeoutMs);
        if (part.type === 'error') throw part.error;
        if (part.type === 'abort') throw request.signal.reason ?? silence.signal.reason;
        if (part.type === 'reasoning-delta') yield { isThinking: true };
        if (part.type === 'text-delta' && part.text !== '') {
          const text = thought.push(part.text);
          yield text === '' ? { isThinking: true } : { text };
        }
        if (part.type === 'finish') {
          if (part.finishReason === 'error') throw new Error('the model failed');
          this.isAvailable = true;
          this.failure = undefined;
          const finish = part.finishReason === 'length' ? 'length' : 'stop';
          const text = thought.end(finish === 'length');
          if (text !== '') yield { text };
          yield { finish, usage: usageOf(part.totalUsage) };
        }
      }
      request.signal.throwIfAborted();
      silence.signal.throwIfAborted();
    } catch (error) {
      if (!request.signal.aborted) this.#failed(error);
      throw error;
    } finally {
      silence.pause();
      left.abort();
    }
  }

  #failed(error: unknown): void {
    const cause = causeOf(error);
    this.isAvailable = false;
    this.failure = cause;
    const nowMs = performance.now();
    if (nowMs - (this.#loggedMs.get(cause) ?? -rememberedMs) < rememberedMs) return;
    this.#loggedMs.set(cause, nowMs);
    const { message } = error instanceof Error ? error : { message: String(error) };
    this.#options.log?.warn({ cause, detail: message.slice(0, 500) }, causes[cause]);
  }

  async #open(name: string): Promise<LanguageModel> {
    const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
    const { extractReasoningMiddleware, wrapLanguageModel } = await import('ai');
    const { baseUrl: baseURL, apiKey, responseBytesMax = usualResponseBytesMax } = this.#options;
    const provider = createOpenAICompatible({
      name: 'llm',
      baseURL,
      includeUsage: true,
      fetch: modelFetch(responseBytesMax),
      ...(apiKey !== undefined && { apiKey }),
    });
    // What a model thinks to itself is never shown.
    const middleware = thinkingTags.map((tagName) => extractReasoningMiddleware({ tagName }));
    return wrapLanguageModel({ model: provider.chatModel(name), middleware });
  }
}

/** Returns true for parts that the model itself writes, unlike those around them. */
function isPiece(type: string): boolean {
  return /^(?:text|reasoning|tool-input)-/.test(type);
}

/** Aborts when it was not fed for a while. */
class Watchdog {
  readonly #stop = new AbortController();
  #timer: NodeJS.Timeout | undefined;

  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  feed(timeoutMs: number): void {
    clearTimeout(this.#timer);
    const giveUp = () => this.#stop.abort(new DOMException('The model is silent.', 'TimeoutError'));
    this.#timer = setTimeout(giveUp, timeoutMs);
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
