import { type Language, languageFor, type Source } from '@octavo/reader';
import type { ChatModel } from '../model/index.ts';
import type { Found } from '../retrieval/index.ts';
import { noData, type ToolCalls } from '../tools/index.ts';
import type { TurnAnswer, TurnIds, TurnRequest } from './turn.ts';
import { builtInModel, type Written } from './write-answer.ts';

/** A turn while it runs, and what it says in the end. */
export class RunningTurn {
  readonly request: TurnRequest;
  /** Of the question, or else of the client. */
  readonly language: Language;
  readonly askedAtMs: number;
  readonly startMs = performance.now();
  readonly latency: Record<string, number> = { retrieval: 0, rerank: 0, tools: 0, generation: 0 };
  text = '';
  /** The one that writes, throughout the turn. */
  model: ChatModel | undefined;
  found: Found | undefined;
  calls: ToolCalls | undefined;
  written: Written | undefined;
  /** Sources of a reply that was not searched for. */
  sources: readonly Source[] = [];
  /** Of the documents that the answer quotes. */
  quoted: { readonly warnings: readonly string[] } | undefined;

  constructor(request: TurnRequest, askedAtMs: number) {
    this.request = request;
    this.language = languageFor(request.query, request.preferred);
    this.askedAtMs = askedAtMs;
  }

  bodyOf(ids: TurnIds, { nowMs, isCancelled }: { nowMs: number; isCancelled: boolean }): TurnAnswer {
    const { request, found, calls, written, quoted } = this;
    const { query, strategy } = request;
    const trace = (calls?.trace ?? []).toSorted((one, other) => one.step - other.step);
    const citations = written?.citations ?? [];
    const latency = { total: performance.now() - this.startMs, ...this.latency };
    return {
      success: true,
      ...ids,
      query,
      strategy,
      answer: this.text,
      kind: written?.kind ?? 'none',
      grounded: citations.length > 0 && written?.unsupported.length === 0,
      abstained: written?.abstained ?? false,
      citations,
      sources: found?.ranked.map(({ source }) => source) ?? this.sources,
      api_data: calls?.data ?? noData,
      api_chain_trace: trace,
      metadata: {
        mode: written?.mode ?? 'extractive',
        model: written?.model ?? builtInModel,
        usage: written?.usage ?? null,
        finish_reason: isCancelled ? 'cancelled' : (written?.finishReason ?? 'stop'),
        strategy_requested: strategy,
        strategy_used: found?.strategyUsed ?? strategy,
        queries: found?.queries ?? [],
        reranked: found?.reranked ?? false,
        reranker: found?.reranker ?? null,
        embedding_model: found?.embeddingModel ?? null,
        num_documents: found?.documentCount ?? 0,
        confidence: written?.confidence ?? 0,
        cache_hit: calls?.hasUsedCache ?? false,
        api_chain_calls: calls?.count ?? 0,
        unsupported: written?.unsupported ?? [],
        warnings: [request, found, written, calls, quoted].flatMap((each) => each?.warnings ?? []),
        language: this.language,
        timestamp: new Date(nowMs).toISOString(),
        latency_ms: Object.fromEntries(
          Object.entries(latency).map(([stage, ms]) => [stage, Math.round(ms * 10) / 10]),
        ),
      },
    };
  }

  /** The question and its answer, as the session keeps them. */
  messagesOf(
    { message_id, answer, kind, sources, citations, api_chain_trace, metadata }: TurnAnswer,
    { questionId, nowMs }: { readonly questionId: string; readonly nowMs: number },
  ) {
    const { query, strategy } = this.request;
    const details = { kind, sources, citations, api_chain_trace, metadata };
    return [
      {
        id: questionId,
        role: 'user',
        content: query,
        strategy,
        details: {},
        createdAtMs: this.askedAtMs,
      },
      { id: message_id, role: 'assistant', content: answer, strategy, details, createdAtMs: nowMs },
    ] as const;
  }
}
