import { type Clock, newOrderedId } from '@octavo/core';
import {
  type ChatMessage,
  type Passage,
  type PassageReading,
  type ReplyReading,
  read,
  type Search,
  wholeDocuments,
} from '@octavo/reader';
import { knownLibraries, warningsOfQuoted } from '../documents/index.ts';
import { librariesOf } from '../library.ts';
import { type ChatModel, countFitting, rewriteFollowUp, type ToolOffer } from '../model/index.ts';
import type { Owner } from '../owner.ts';
import { documentsOf, type Found, withNeighbors } from '../retrieval/index.ts';
import { lastMessages } from '../sessions/index.ts';
import { type DomainApi, type Names, partForDocuments, ToolCalls } from '../tools/index.ts';
import type { TurnMetrics } from './metrics.ts';
import { OutputLimit } from './output-limit.ts';
import { findPassages, type SearchParts } from './passages.ts';
import { RunningTurn } from './running-turn.ts';
import { finishTurn } from './store.ts';
import type { ClaimedTurn } from './store-claims.ts';
import type { Emit, Progress, Stage, TurnAnswer, TurnEvent, TurnIds, TurnRequest } from './turn.ts';
import { writeWhole } from './whole.ts';
import { writeAnswer, writtenWithoutModel } from './write-answer.ts';

/** Dependencies of a turn. */
export interface TurnParts extends SearchParts {
  readonly clock: Clock;
  readonly metrics: TurnMetrics;
  /** The language model as it is chosen now; answers are quoted from the sources without one. */
  readonly models?: { current(): Promise<ChatModel | undefined> } | undefined;
  /** The domain data API with the names that it knows. */
  readonly domain?: { readonly api: DomainApi; readonly names: Names } | undefined;
  /** Tools of other servers, for the calls of one turn. */
  readonly foreignTools?: ((calls: ToolCalls) => Promise<readonly ToolOffer[]>) | undefined;
}

export interface TurnContext {
  readonly owner: Owner;
  readonly emit: Emit;
  /** Aborts when the last client has stopped waiting. The text so far is saved. */
  readonly signal: AbortSignal;
  /** The turn as it was claimed. */
  readonly claimedTurn: ClaimedTurn;
}

/**
 * Answers one question: finds passages, calls tools, writes the answer, checks where each part comes from, and keeps both in the session.
 * Every transport runs this, and differs only in what it does with the events.
 */
export async function runTurn(
  parts: TurnParts,
  request: TurnRequest,
  { owner, emit, signal, claimedTurn }: TurnContext,
): Promise<TurnAnswer> {
  const { database, clock } = parts;
  const turn = new RunningTurn(request, clock.now());
  const events: TurnEvent[] = [];
  const forward: Emit = (event) => {
    events.push(event);
    emit(event);
  };
  const session = claimedTurn.session ?? newOrderedId();
  const ids: TurnIds = { request_id: request.requestId, session_id: session, message_id: claimedTurn.run };
  forward({ event: 'start', data: ids });
  try {
    signal.throwIfAborted();
    const history = request.history ?? (await lastMessages(database, session, historyMax));
    const enter = stagesOf(request.requestId, forward);
    if (!request.isExtractive) turn.model = await parts.models?.current();
    await answer(parts, turn, { owner, emit: forward, signal, session, history, enter });
    turn.quoted = { warnings: await warningsOfQuoted(database, turn.written?.citations ?? []) };
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  const isCancelled = signal.aborted;
  const body = turn.bodyOf(ids, { nowMs: clock.now(), isCancelled });
  const last: TurnEvent[] = [
    ...body.citations.map((citation) => ({ event: 'citation', data: citation }) as const),
    { event: 'done', data: body },
  ];
  await finishTurn(database, claimedTurn, {
    isCancelled,
    events: [...events, ...last],
    nowMs: clock.now(),
    messages: turn.messagesOf(body, { questionId: claimedTurn.questionId, nowMs: clock.now() }),
  });
  parts.metrics.ended(body);
  for (const event of last) emit(event);
  return body;
}

/** Tells clients of each stage once when it begins, and of its progress. */
function stagesOf(requestId: string, emit: Emit): Enter {
  let stage: Stage | undefined;
  return (next, progress) => {
    if (next !== stage || progress)
      emit({ event: 'status', data: { request_id: requestId, stage: next, ...progress } });
    stage = next;
  };
}

interface AnswerContext extends Omit<TurnContext, 'claimedTurn'> {
  readonly session: string;
  readonly history: readonly ChatMessage[];
  readonly enter: Enter;
}

/** Tells clients that a stage begins, once, or how far it is. */
type Enter = (stage: Stage, progress?: Progress) => void;

async function answer(parts: TurnParts, turn: RunningTurn, context: AnswerContext): Promise<void> {
  const { query, topK } = turn.request;
  const most = turn.model ? readSourcesMax : quotedSourcesMax;
  const question = { text: query, language: turn.language, sourcesMax: topK ?? most };
  const search = searchFor(parts, turn, context);
  if (await writeFromWhole(parts, turn, context, search)) return;
  const reading = await read(question, context.history, search);
  if (reading.kind === 'reply') giveReply(parts, turn, reading, context);
  else await writeFrom(parts, turn, reading, context);
}

/** Searches what the asker may see, as the request wants it. */
function searchFor(parts: TurnParts, turn: RunningTurn, context: AnswerContext): Search<Found> {
  const { request, model } = turn;
  const { database, library, domain } = parts;
  const { owner, session, signal, enter } = context;
  return {
    passages({ text, asked: withoutContext, limit }) {
      enter('retrieving');
      return findPassages(
        parts,
        { ...request, query: text, withoutContext, topK: limit },
        { owner, session },
      );
    },
    async rewritten(question) {
      enter('retrieving');
      const name = request.modelName ?? model?.defaultName ?? '';
      return model && (await rewriteFollowUp(model, { question, history: context.history, name, signal }));
    },
    async documents() {
      const libraries = await knownLibraries(database, librariesOf(library, owner, session));
      return documentsOf(database, libraries, request.filters);
    },
    async partForDocuments(question) {
      enter('retrieving');
      const isWanted = request.usesTools && !model;
      const part = isWanted && domain ? await partForDocuments(domain.names, question) : undefined;
      signal.throwIfAborted();
      return part;
    },
  };
}

/** Has a model sum up or compare whole documents, if that is asked for. Resolves to false if it is not, or if the model fails. */
async function writeFromWhole(
  parts: TurnParts,
  turn: RunningTurn,
  { emit, signal, history, enter }: AnswerContext,
  search: Search<Found>,
): Promise<boolean> {
  const { request, model } = turn;
  const named = model ? await wholeDocuments(request.query, () => search.documents()) : [];
  if (!model || named.length === 0) return false;
  const documents = await search.documents();
  const passages: Passage[] = [];
  for (const { id } of named) passages.push(...(await documents.openingOf(id, wholePassagesMax)));
  const startMs = performance.now();
  const whole = await writeWhole(
    {
      ...draftPartsOf(parts, turn, { emit, signal, history, enter }),
      question: request.query,
      calls: undefined,
      passages,
      onProgress: (progress) => enter('reading', progress),
    },
    model,
    (ranked) => {
      turn.sources = ranked.map(({ source }) => source);
      emit({ event: 'sources', data: { sources: turn.sources } });
    },
  );
  turn.latency.generation = performance.now() - startMs;
  turn.written = whole?.written;
  return whole !== undefined;
}

/** Material of all drafts of a model, and the receiver of their text. */
function draftPartsOf(
  parts: TurnParts,
  turn: RunningTurn,
  { emit, signal, history, enter }: Pick<AnswerContext, 'emit' | 'signal' | 'history' | 'enter'>,
) {
  const { request } = turn;
  let seq = 0;
  return {
    originalQuestion: request.query,
    language: turn.language,
    nowMs: parts.clock.now(),
    history,
    sampling: request.writing ?? {},
    limit: new OutputLimit(request.writing),
    signal,
    instructions: request.instructions,
    modelName: request.modelName,
    onStage: enter,
    onText(text: string) {
      enter('generating');
      if (seq === 0) parts.metrics.firstText((performance.now() - turn.startMs) / 1_000);
      turn.text += text;
      emit({ event: 'delta', data: { seq: seq++, text } });
    },
  };
}

/** Writes the answer from passages and tools. */
async function writeFrom(
  parts: TurnParts,
  turn: RunningTurn,
  reading: PassageReading<Found>,
  { emit, signal, history, enter }: AnswerContext,
): Promise<void> {
  const { request, model } = turn;
  const { domain, foreignTools } = parts;
  turn.found = reading.found;
  Object.assign(turn.latency, turn.found.latencyMs);
  if (model) turn.found = await readBy(model, parts, turn.found, { request, history });
  signal.throwIfAborted();
  emit({ event: 'sources', data: { sources: turn.found.ranked.map(({ source }) => source) } });
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
  turn.written = await writeAnswer({
    model,
    names: domain?.names,
    ...draftPartsOf(parts, turn, { emit, signal, history, enter }),
    question: reading.question,
    found: turn.found,
    documentAnswer: reading.answer,
    isLikely: reading.isLikely,
    hasDataPart: reading.isPart,
    calls: turn.calls,
    foreignTools: (usesTools && (await foreignTools?.(calls))) || [],
  });
  turn.latency.generation = Math.max(0, performance.now() - startMs - (turn.latency.tools ?? 0));
}

/** Passages with those beside them; without a number of sources in the request, only as many as the model has room for. */
async function readBy(
  model: ChatModel,
  { database, clock }: TurnParts,
  found: Found,
  { request, history }: { readonly request: TurnRequest; readonly history: readonly ChatMessage[] },
): Promise<Found> {
  const all = await withNeighbors(database, found.ranked);
  if (request.topK !== undefined) return { ...found, ranked: all };
  const fitting = countFitting({
    question: request.query,
    ranked: all,
    calls: undefined,
    history,
    instructions: request.instructions,
    nowMs: clock.now(),
    contextTokens: await model.contextTokens(request.modelName ?? model.defaultName),
  });
  const ranked = all.slice(0, Math.max(quotedSourcesMax, fitting));
  const documentCount = new Set(ranked.map(({ source }) => source.document_id)).size;
  return { ...found, ranked, documentCount };
}

/** Gives a reply that nothing was searched for. */
function giveReply(
  parts: TurnParts,
  turn: RunningTurn,
  { answer: reply, sources }: ReplyReading,
  { emit, enter }: AnswerContext,
): void {
  const startMs = performance.now();
  turn.sources = sources;
  emit({ event: 'sources', data: { sources } });
  enter('generating');
  turn.written = writtenWithoutModel(reply, new OutputLimit(turn.request.writing));
  turn.text = turn.written.text;
  emit({ event: 'delta', data: { seq: 0, text: turn.text } });
  parts.metrics.firstText((performance.now() - turn.startMs) / 1_000);
  turn.latency.generation = performance.now() - startMs;
}

/** Number of messages before a question that may tell its topic: six questions with their answers. */
const historyMax = 12;
/** Sources of an answer in quotes, and those that are looked for where a model is to read them. */
const quotedSourcesMax = 5;
const readSourcesMax = 20;
/** Passages of a document that are read as a whole. */
const wholePassagesMax = 1_000;
