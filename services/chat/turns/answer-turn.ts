import { type Clock, newOrderedId } from '@octavo/core';
import {
  type ChatMessage,
  type Language,
  languageFor,
  type PassageReading,
  type ReplyReading,
  read,
  type Search,
  type Source,
} from '@octavo/reader';
import { knownLibraries } from '../documents/index.ts';
import { librariesOf } from '../library.ts';
import type { ChatModel, ToolOffer } from '../model/index.ts';
import type { Owner } from '../owner.ts';
import { documentsOf, type Found, withNeighbors } from '../retrieval/index.ts';
import { lastSaid } from '../sessions/index.ts';
import { type DomainApi, type Names, noData, partForDocuments, ToolCalls } from '../tools/index.ts';
import type { TurnMetrics } from './metrics.ts';
import { OutputLimit } from './output-limit.ts';
import { findPassages, type SearchParts } from './passages.ts';
import { finishTurn } from './store.ts';
import type { ClaimedTurn } from './store-claims.ts';
import type { Emit, Stage, TurnAnswer, TurnEvent, TurnIds, TurnRequest } from './turn.ts';
import { builtInModel, quotedWritten, type Written, writeAnswer } from './write-answer.ts';

/** Dependencies of a turn. */
export interface TurnParts extends SearchParts {
  readonly clock: Clock;
  readonly metrics: TurnMetrics;
  /** The language model; answers are quoted from the sources without one. */
  readonly model?: ChatModel | undefined;
  /** The domain data API with the names that it knows. */
  readonly domain?: { readonly api: DomainApi; readonly names: Names } | undefined;
  /** Tools of other servers, for the calls of one turn. */
  readonly foreignTools?: ((calls: ToolCalls) => Promise<readonly ToolOffer[]>) | undefined;
}

export interface TurnContext {
  readonly owner: Owner;
  readonly emit: Emit;
  /** Aborts when nobody waits for the answer anymore. The text so far is saved. */
  readonly signal: AbortSignal;
  /** The turn as it was claimed. */
  readonly own: ClaimedTurn;
}

/**
 * Answers one question: finds passages, calls tools, writes the answer, checks where each part comes from, and keeps both in the session.
 * Every transport runs this, and differs only in what it does with the events.
 */
export async function runTurn(
  parts: TurnParts,
  request: TurnRequest,
  { owner, emit, signal, own }: TurnContext,
): Promise<TurnAnswer> {
  const { database, clock } = parts;
  const turn = new Turn(request, clock.now());
  const events: TurnEvent[] = [];
  const forward: Emit = (event) => {
    events.push(event);
    emit(event);
  };
  const session = own.session ?? newOrderedId();
  const ids: TurnIds = { request_id: request.requestId, session_id: session, message_id: own.run };
  forward({ event: 'start', data: ids });
  try {
    signal.throwIfAborted();
    const said = request.history ?? (await lastSaid(database, session, historyMax));
    const enter = stagesOf(request.requestId, forward);
    await answer(parts, turn, { owner, emit: forward, signal, session, said, enter });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  const isCancelled = signal.aborted;
  const body = turn.bodyOf(ids, { nowMs: clock.now(), isCancelled });
  const last: TurnEvent[] = [
    ...body.citations.map((citation) => ({ event: 'citation', data: citation }) as const),
    { event: 'done', data: body },
  ];
  await finishTurn(database, own, {
    isCancelled,
    events: [...events, ...last],
    nowMs: clock.now(),
    messages: [
      {
        id: own.questionId,
        role: 'user',
        content: request.query,
        strategy: request.strategy,
        details: {},
        createdAtMs: turn.askedAtMs,
      },
      {
        id: ids.message_id,
        role: 'assistant',
        content: body.answer,
        strategy: request.strategy,
        details: detailsOf(body),
        createdAtMs: clock.now(),
      },
    ],
  });
  parts.metrics.ended(body);
  for (const event of last) emit(event);
  return body;
}

/** Tells clients of each stage once when it begins. */
function stagesOf(requestId: string, emit: Emit): (stage: Stage) => void {
  let stage: Stage | undefined;
  return (next) => {
    if (next !== stage) emit({ event: 'status', data: { request_id: requestId, stage: next } });
    stage = next;
  };
}

/** State of a running turn. */
class Turn {
  readonly request: TurnRequest;
  /** Of the question, or else of the client. */
  readonly language: Language;
  readonly askedAtMs: number;
  readonly startMs = performance.now();
  readonly latency: Record<string, number> = { retrieval: 0, rerank: 0, tools: 0, generation: 0 };
  text = '';
  found: Found | undefined;
  calls: ToolCalls | undefined;
  written: Written | undefined;
  /** Sources of a reply that was not searched for. */
  shown: readonly Source[] = [];

  constructor(request: TurnRequest, askedAtMs: number) {
    this.request = request;
    this.language = languageFor(request.query, request.preferred);
    this.askedAtMs = askedAtMs;
  }

  bodyOf(ids: TurnIds, { nowMs, isCancelled }: { nowMs: number; isCancelled: boolean }): TurnAnswer {
    const { request, found, calls, written } = this;
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
      sources: found?.ranked.map(({ source }) => source) ?? this.shown,
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
        warnings: [request, found, written, calls].flatMap((each) => each?.warnings ?? []),
        language: this.language,
        timestamp: new Date(nowMs).toISOString(),
        latency_ms: Object.fromEntries(
          Object.entries(latency).map(([stage, ms]) => [stage, Math.round(ms * 10) / 10]),
        ),
      },
    };
  }
}

interface AnswerContext extends Omit<TurnContext, 'own'> {
  readonly session: string;
  readonly said: readonly ChatMessage[];
  /** Tells clients that a stage begins, once. */
  readonly enter: (stage: Stage) => void;
}

async function answer(parts: TurnParts, turn: Turn, context: AnswerContext): Promise<void> {
  const { query, topK } = turn.request;
  const question = { text: query, language: turn.language, sourcesMax: topK };
  const reading = await read(question, context.said, searchFor(parts, turn, context));
  if (reading.kind === 'reply') giveReply(parts, turn, reading, context);
  else await writeFrom(parts, turn, reading, context);
}

/** Searches what the asker may see, as the request wants it. */
function searchFor(parts: TurnParts, { request }: Turn, context: AnswerContext): Search<Found> {
  const { database, library, domain } = parts;
  const { owner, session, signal, enter } = context;
  return {
    passages({ text, asked, limit }) {
      enter('retrieving');
      return findPassages(parts, { ...request, query: text, asked, topK: limit }, { owner, session });
    },
    async documents() {
      const libraries = await knownLibraries(database, librariesOf(library, owner, session));
      return documentsOf(database, libraries, request.filters);
    },
    async partForDocuments(question) {
      enter('retrieving');
      const isWanted = request.usesTools && (request.isExtractive || !parts.model);
      const part = isWanted && domain ? await partForDocuments(domain.names, question) : undefined;
      signal.throwIfAborted();
      return part;
    },
  };
}

/** Writes the answer from passages and tools. */
async function writeFrom(
  parts: TurnParts,
  turn: Turn,
  reading: PassageReading<Found>,
  { emit, signal, said, enter }: AnswerContext,
): Promise<void> {
  const { request } = turn;
  const { domain, foreignTools } = parts;
  const isExtractive = request.isExtractive || !parts.model;
  turn.found = reading.found;
  Object.assign(turn.latency, turn.found.latencyMs);
  if (!isExtractive) {
    const ranked = await withNeighbors(parts.database, turn.found.ranked);
    turn.found = { ...turn.found, ranked };
  }
  signal.throwIfAborted();
  emit({ event: 'sources', data: { sources: reading.sources } });
  const usesTools = request.usesTools && (domain !== undefined || foreignTools !== undefined);
  const calls = new ToolCalls({
    api: domain?.api,
    signal,
    onCall: () => enter('calling_tools'),
    onStep(step) {
      turn.latency.tools = (turn.latency.tools ?? 0) + step.duration_ms;
      emit({ event: 'tool', data: { request_id: request.requestId, step } });
    },
  });
  if (usesTools) turn.calls = calls;
  const startMs = performance.now();
  let seq = 0;
  const model = request.isExtractive ? undefined : parts.model;
  if (model) enter('generating');
  turn.written = await writeAnswer({
    model,
    names: domain?.names,
    question: reading.question,
    asked: request.query,
    found: turn.found,
    quoted: reading.answer,
    isLikely: reading.isLikely,
    language: turn.language,
    isPartForDocuments: reading.isPart,
    nowMs: parts.clock.now(),
    calls: turn.calls,
    history: said,
    ...wishesOf(request),
    signal,
    instructions: request.instructions,
    modelName: request.modelName,
    foreignTools: (usesTools && (await foreignTools?.(calls))) || [],
    onText(text) {
      enter('generating');
      if (seq === 0) parts.metrics.firstText((performance.now() - turn.startMs) / 1_000);
      turn.text += text;
      emit({ event: 'delta', data: { seq: seq++, text } });
    },
  });
  turn.latency.generation = Math.max(0, performance.now() - startMs - (turn.latency.tools ?? 0));
}

function wishesOf({ writing = {} }: TurnRequest) {
  return { sampling: writing, limit: new OutputLimit(writing) };
}

/** Gives a reply that nothing was searched for. */
function giveReply(
  parts: TurnParts,
  turn: Turn,
  { answer: reply, sources }: ReplyReading,
  { emit, enter }: AnswerContext,
): void {
  const startMs = performance.now();
  turn.shown = sources;
  emit({ event: 'sources', data: { sources } });
  enter('generating');
  turn.written = quotedWritten(reply, new OutputLimit(turn.request.writing));
  turn.text = turn.written.text;
  emit({ event: 'delta', data: { seq: 0, text: turn.text } });
  parts.metrics.firstText((performance.now() - turn.startMs) / 1_000);
  turn.latency.generation = performance.now() - startMs;
}

function detailsOf({ kind, sources, citations, api_chain_trace, metadata }: TurnAnswer) {
  return { kind, sources, citations, api_chain_trace, metadata };
}

/** Number of messages before a question that may tell its topic: six questions with their answers. */
const historyMax = 12;
