import type { Clock } from '#kit/base/clock.ts';
import { newOrderedId } from '#kit/base/ids.ts';
import type { Database } from '#kit/db/index.ts';
import { type Answered, extractiveAnswer } from '../answers/index.ts';
import { countUnread, knownLibraries } from '../documents/index.ts';
import { changesTopic, everydayReply, type Intent, intentOf, withoutCourtesy } from '../everyday/index.ts';
import { type LibraryRules, librariesOf } from '../library.ts';
import type { ChatModel, ToolOffer } from '../model/index.ts';
import type { Owner } from '../owner.ts';
import {
  type Found,
  type Retriever,
  rephrased,
  type Source,
  sourceOfPassage,
  withNeighbors,
} from '../retrieval/index.ts';
import { lastSaid } from '../sessions/index.ts';
import type { Tables } from '../tables.ts';
import { type DomainApi, type Names, noData, partForDocuments, ToolCalls } from '../tools/index.ts';
import { meantQuestions } from './follow-up.ts';
import type { TurnMetrics } from './metrics.ts';
import { OutputLimit } from './output-limit.ts';
import { shorterQuestions } from './shorter.ts';
import { finishTurn } from './store.ts';
import type { ClaimedTurn } from './store-claims.ts';
import type { ChatMessage, Emit, Stage, TurnAnswer, TurnEvent, TurnIds, TurnRequest } from './turn.ts';
import { builtInModel, quotedWritten, type Written, writeAnswer } from './write-answer.ts';

/** Dependencies of a turn. */
export interface TurnParts {
  readonly database: Database<Tables>;
  readonly retriever: Retriever;
  readonly clock: Clock;
  readonly library: LibraryRules;
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
    await answer(parts, turn, { owner, emit: forward, signal, session, said });
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

/** The passages for a question, in the documents that serve its owner and the session. */
export async function searchPassages(
  { database, retriever, library }: Pick<TurnParts, 'database' | 'retriever' | 'library'>,
  { query, asked, strategy, topK, rerank = true, filters }: SearchFields,
  owner: Owner,
  sessionId: string | undefined,
): Promise<Found> {
  const libraries = await knownLibraries(database, librariesOf(library, owner, sessionId));
  const found = await retriever.search({ query, asked, strategy, topK, rerank, filters, libraries });
  const unread = await countUnread(database, libraries);
  if (unread === 0) return found;
  const warning =
    unread === 1
      ? 'A document is still being read and was not searched.'
      : `${unread} documents are still being read and were not searched.`;
  return { ...found, warnings: [...found.warnings, warning] };
}

interface SearchFields extends Pick<TurnRequest, 'query' | 'strategy' | 'topK' | 'rerank' | 'filters'> {
  /** The question without its context, if that differs. */
  readonly asked?: string;
}

/** State of a running turn. */
class Turn {
  readonly request: TurnRequest;
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
}

async function answer(parts: TurnParts, turn: Turn, context: AnswerContext): Promise<void> {
  const { request } = turn;
  const { emit, signal, said } = context;
  const request_id = request.requestId;
  const asked = withoutCourtesy(request.query);
  const meant = changesTopic(request.query) ? [asked] : meantQuestions(asked, said);
  if (!parts.model || request.isExtractive) {
    const intent = intentOf(request.query) ?? intentMeant(meant);
    const isAnswered = intent !== undefined && (await replyWithoutQuestion(parts, turn, intent, context));
    if (isAnswered) return;
  }
  let stage: Stage | undefined;
  const enter = (next: Stage) => {
    if (next !== stage) emit({ event: 'status', data: { request_id, stage: next } });
    stage = next;
  };
  enter('retrieving');
  const { domain, foreignTools } = parts;
  const isExtractive = request.isExtractive || !parts.model;
  const [question = asked] = meant;
  const forDocuments =
    isExtractive && request.usesTools && domain
      ? await partForDocuments(domain.names, question, parts.clock.now())
      : undefined;
  signal.throwIfAborted();
  const { found, answer: quoted } = await findAnswer(
    parts,
    { ...request, asked: forDocuments ?? asked },
    forDocuments === undefined ? meant : [forDocuments],
    context,
  );
  turn.found = found;
  Object.assign(turn.latency, turn.found.latencyMs);
  if (!isExtractive) {
    const ranked = await withNeighbors(parts.database, turn.found.ranked);
    turn.found = { ...turn.found, ranked };
  }
  signal.throwIfAborted();
  emit({ event: 'sources', data: { sources: turn.found.ranked.map(({ source }) => source) } });
  const usesTools = request.usesTools && (domain !== undefined || foreignTools !== undefined);
  const calls = new ToolCalls({
    api: domain?.api,
    signal,
    onCall: () => enter('calling_tools'),
    onStep(step) {
      turn.latency.tools = (turn.latency.tools ?? 0) + step.duration_ms;
      emit({ event: 'tool', data: { request_id, step } });
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
    question,
    asked: request.query,
    found: turn.found,
    quoted,
    isPartForDocuments: forDocuments !== undefined,
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

/** Number of passages that are read for the answer; as many as the request asks for stay as its sources. */
const readMax = 10;
/** Other senses of a question are not tried above this. */
const sureEnough = 0.7;
const answeredFrom = 0.5;

/**
 * The answer in quotes, to the question in the sense that has the best one. It is asked once more with other words for what the documents
 * do not have.
 */
async function findAnswer(
  parts: TurnParts,
  request: SearchFields,
  meant: readonly string[],
  { owner, session }: AnswerContext,
): Promise<Answered & { readonly question: string }> {
  const answerTo = async (question: string, asked = request.asked ?? question) => {
    const fields = { ...request, asked, query: question, topK: Math.max(readMax, request.topK) };
    const read = await searchPassages(parts, fields, owner, session);
    return { ...extractiveAnswer(read, request.topK), question, read };
  };
  const betterOf = <A extends Answered>(one: A, other: A) =>
    other.answer.confidence > one.answer.confidence ? other : one;
  const inOtherWords = async (answered: Awaited<ReturnType<typeof answerTo>>, asked: string | undefined) => {
    const passages = answered.read.ranked.map(({ passage }) => passage);
    const other = rephrased(answered.question, answered.read.evidence, passages);
    return other === undefined ? answered : betterOf(answered, await answerTo(other, asked));
  };
  const [first = request.query] = meant;
  let best = await answerTo(first);
  // Another thing put into the question before is what is meant, if that is answered at all.
  const isReplacing = request.asked !== undefined && !first.endsWith(request.asked);
  const enough = isReplacing ? answeredFrom : sureEnough;
  for (const question of meant.slice(1)) {
    // A question that may go on is about something else only if nothing answers it in any other sense.
    const isAlone = question === request.asked || first === request.asked;
    if (best.answer.confidence >= enough || (isAlone && !best.answer.abstained)) break;
    best = betterOf(best, await answerTo(question));
  }
  best = await inOtherWords(best, request.asked);
  if (best.answer.confidence >= answeredFrom) return best;
  // What a shorter question leaves out may be what matters, so only a good answer counts.
  for (const question of shorterQuestions(request.asked ?? best.question)) {
    const answered = await inOtherWords(await answerTo(question, question), question);
    if (answered.answer.confidence >= sureEnough) return answered;
  }
  return best;
}

/** The intent of a follow-up that asks who made what was spoken of, or for its license. */
function intentMeant(meant: readonly string[]): Intent | undefined {
  return meant.map(intentOf).find((intent) => intent?.kind === 'author' || intent?.kind === 'license');
}

/** Replies to greetings, thanks, and questions about the library itself. Resolves to false if something else is asked. */
async function replyWithoutQuestion(
  parts: TurnParts,
  turn: Turn,
  intent: Intent,
  { owner, emit, session }: AnswerContext,
): Promise<boolean> {
  const { request } = turn;
  const { database, library } = parts;
  const libraries = await knownLibraries(database, librariesOf(library, owner, session));
  const reply = await everydayReply(database, intent, { libraries, filters: request.filters });
  if (!reply) return false;
  const startMs = performance.now();
  const sources = reply.passages.map((passage, place) => sourceOfPassage(place + 1, passage));
  turn.shown = sources;
  emit({ event: 'sources', data: { sources } });
  emit({ event: 'status', data: { request_id: request.requestId, stage: 'generating' } });
  turn.written = quotedWritten(reply, new OutputLimit(request.writing));
  turn.text = turn.written.text;
  emit({ event: 'delta', data: { seq: 0, text: turn.text } });
  parts.metrics.firstText((performance.now() - turn.startMs) / 1_000);
  turn.latency.generation = performance.now() - startMs;
  return true;
}

function detailsOf({ sources, citations, api_chain_trace, metadata }: TurnAnswer) {
  return { sources, citations, api_chain_trace, metadata };
}

/** Number of messages before a question that may tell its topic: six questions with their answers. */
const historyMax = 12;
