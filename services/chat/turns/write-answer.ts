import { toAppError } from '@octavo/core';
import { stemsOf } from '@octavo/data/terms';
import { type Answer, type ChatMessage, type Language, texts } from '@octavo/reader';
import {
  AnswerFilter,
  type ChatModel,
  checkSupport,
  noAnswer,
  promptOf,
  type Sampling,
  type ToolOffer,
} from '../model/index.ts';
import type { Found } from '../retrieval/index.ts';
import { apiSentences, callPlanned, domainTools, type Names, type ToolCalls } from '../tools/index.ts';
import type { OutputBounds, OutputLimit } from './output-limit.ts';
import type { FinishReason, Usage } from './turn.ts';

const answerMax = 20_000;
/** Text that waits until it is known to be an answer. */
const heldMax = 40;
export const builtInModel = 'builtin-extractive';
const dataNotAsked = 'The domain data could not be asked.';
const dataNotWhole = 'Not all of the domain data could be asked.';

/** Sources of an answer, and the receiver of its text. */
export interface WriteParts {
  readonly model: ChatModel | undefined;
  readonly names: Names | undefined;
  /** The question as it is understood, and as it was asked. */
  readonly question: string;
  readonly asked: string;
  readonly found: Found;
  /** The answer in quotes. */
  readonly quoted: Answer;
  /** True if the documents are likely to answer, also where the answer does not stand alone. */
  readonly isLikely: boolean;
  readonly language: Language;
  /** True if the passages are for a part of the question that the domain data does not answer. */
  readonly isPartForDocuments?: boolean;
  readonly nowMs: number;
  /** Undefined if no tools may be used. */
  readonly calls: ToolCalls | undefined;
  readonly foreignTools: readonly ToolOffer[];
  readonly history: readonly ChatMessage[];
  readonly instructions: string | undefined;
  readonly modelName: string | undefined;
  readonly sampling: Sampling & OutputBounds;
  /** Passes the text on as far as the client wants it. */
  readonly limit: OutputLimit;
  readonly signal: AbortSignal;
  readonly onText: (text: string) => void;
}

export interface Written extends Answer {
  readonly mode: 'extractive' | 'llm';
  readonly model: string;
  readonly usage: Usage | null;
  readonly finishReason: FinishReason;
  readonly unsupported: readonly { readonly start: number; readonly end: number }[];
  readonly warnings: readonly string[];
}

/** Writes the answer with the model if there is one, else from quotes; and from quotes also if the model fails. */
export async function writeAnswer(parts: WriteParts): Promise<Written> {
  const { model, found, calls, signal } = parts;
  const hasMaterial = found.ranked.length > 0 || calls !== undefined;
  if (!model || !hasMaterial) return extractive(parts, []);
  const drafted = await draft(parts, model);
  if (!drafted.problem || signal.aborted) return checked(parts, drafted);
  const warning = `The model ${drafted.problem}. This answer is quoted from the sources.`;
  await callPlannedToolsOnce(parts);
  if (drafted.text === '') return extractive(parts, [warning]);
  // Text already sent cannot be withdrawn, so append the quotes.
  const quoted = quotedAnswer(parts, drafted.text.length + 2);
  const more = parts.limit.all(`\n\n${quoted.text}`);
  if (more !== '') parts.onText(more);
  const before = checkSupport(drafted.text, found.ranked, calls);
  const text = drafted.text + more;
  return {
    ...quoted,
    text,
    citations: [...before.citations, ...citationsIn(text, quoted)],
    mode: 'extractive',
    model: builtInModel,
    usage: drafted.usage,
    finishReason: parts.limit.cut ?? 'error',
    unsupported: before.unsupported,
    warnings: [warning],
  };
}

interface Draft {
  readonly text: string;
  readonly name: string;
  readonly usage: Usage | null;
  readonly finish: FinishReason;
  readonly problem?: string;
}

async function draft(parts: WriteParts, model: ChatModel): Promise<Draft> {
  const first = await streamDraft(parts, model, toolsOf(parts));
  const canRepeat = first.problem !== undefined && first.text === '' && !first.isSilent;
  if (!canRepeat || parts.signal.aborted || toolsOf(parts).length === 0) return first;
  // Some servers refuse requests with tools.
  await callPlannedToolsOnce(parts);
  return streamDraft(parts, model, []);
}

async function streamDraft(
  parts: WriteParts,
  model: ChatModel,
  tools: readonly ToolOffer[],
): Promise<Draft & { isSilent: boolean }> {
  const { question, asked, found, calls, history, instructions, signal, onText, limit, sampling } = parts;
  const allowed = [...found.ranked.map(({ passage }) => passage.text)].join('\n');
  const filter = new AnswerFilter({
    isKnown: (marker) => isKnown(marker, parts),
    isAllowed: (url) => /^https?:\/\//.test(url) && allowed.includes(url),
  });
  const name = parts.modelName ?? model.defaultName;
  let text = '';
  let usage: Usage | null = null;
  let hasBegun = false;
  const say = (piece: string) => {
    if (piece === '') return;
    text += piece;
    onText(piece);
  };
  const pass = (more: string) => {
    const piece = hasBegun ? more : more.trimStart();
    hasBegun ||= piece !== '';
    say(limit.push(piece));
  };
  const end = (finish: FinishReason, problem?: string, isSilent = false) => {
    return { text, name, usage, finish, isSilent, ...(problem !== undefined && { problem }) };
  };
  const { nowMs, language } = parts;
  const { contextTokens } = model;
  const given = { ranked: found.ranked, calls, history, instructions };
  const prompt = promptOf({ question: asked, ...given, nowMs, contextTokens });
  let begun: string | undefined = '';
  try {
    for await (const part of model.stream({ ...sampling, ...prompt, name, tools, signal })) {
      if ('text' in part && begun !== undefined) {
        begun += part.text;
        if (isNoAnswer(begun)) break;
        if (mayBecomeNoAnswer(begun)) continue;
        pass(filter.push(begun));
        begun = undefined;
      } else if ('text' in part) pass(filter.push(part.text));
      else usage = part.usage;
      if (limit.cut) return finishWith(limit.cut);
      if ('finish' in part && part.finish === 'length' && text.trim() !== '') return finishWith('length');
      if (text.length > answerMax) return finishWith('length');
    }
  } catch (error) {
    if (signal.aborted) return finishWith('cancelled');
    pass(filter.end());
    say(limit.end());
    const isSilent = (error as Error)?.name === 'TimeoutError';
    return end('error', isSilent ? 'took too long' : 'failed', isSilent);
  }
  if (begun !== undefined && isNoAnswer(begun)) {
    say(limit.all(texts[language].nothing));
    return end(limit.cut ?? 'stop');
  }
  if (begun !== undefined) pass(filter.push(begun));
  const done = finishWith('stop');
  return done.text.trim() === ''
    ? end('error', `gave no answer to "${question.slice(0, 60).toWellFormed()}"`)
    : done;

  function finishWith(finish: FinishReason) {
    pass(filter.end());
    say(limit.end());
    return end(limit.cut ?? finish);
  }
}

function isNoAnswer(text: string): boolean {
  return text.trimStart().startsWith(noAnswer);
}

function mayBecomeNoAnswer(text: string): boolean {
  return text.length < heldMax && noAnswer.startsWith(text.trimStart());
}

function isKnown(marker: string, { found, calls }: WriteParts): boolean {
  if (!marker.startsWith('A')) return found.ranked[Number(marker) - 1] !== undefined;
  const step = Number(marker.slice(1));
  return calls?.trace.some((each) => each.step === step && each.status === 'ok') ?? false;
}

function toolsOf({ calls, names, foreignTools }: WriteParts): ToolOffer[] {
  if (!calls) return [];
  const domain = names ? domainTools : [];
  const own = domain.map(
    ({ name, description, parameters }): ToolOffer => ({
      name,
      description,
      parameters: { ...parameters },
      async call(params) {
        const { step, rows } = await calls.call(name, params, { reason: 'The model asked for it.' });
        const { status, error } = step;
        return { cite_as: `[A${step.step}]`, status, ...(error && { error }), results: rows.slice(0, 50) };
      },
    }),
  );
  return [...own, ...foreignTools];
}

function checked(parts: WriteParts, drafted: Draft): Written {
  const { found, calls, onText } = parts;
  const { name, usage, finish } = drafted;
  const saysNothing = drafted.text.includes(texts[parts.language].nothing);
  const { citations, unsupported, supported } = checkSupport(drafted.text, found.ranked, calls);
  const abstained = saysNothing && citations.length === 0;
  const notice = finish === 'stop' ? noticeOf(parts, { abstained }) : '';
  const more = notice === '' ? '' : parts.limit.all(`\n\n${notice}`);
  if (more !== '') onText(more);
  const text = drafted.text + more;
  return {
    text,
    citations,
    kind: abstained ? 'none' : 'generated',
    abstained,
    confidence: abstained ? 0 : supported,
    mode: 'llm',
    model: name,
    usage,
    finishReason: parts.limit.cut ?? finish,
    unsupported: abstained ? [] : unsupported,
    warnings: [],
  };
}

async function extractive(parts: WriteParts, warnings: readonly string[]): Promise<Written> {
  await callPlannedToolsOnce(parts);
  const written = quotedWritten(quotedAnswer(parts, 0), parts.limit, warnings);
  if (written.text !== '') parts.onText(written.text);
  return written;
}

/** An answer that was written without a model, as far as the client wants it. */
export function quotedWritten(answer: Answer, limit: OutputLimit, warnings: readonly string[] = []): Written {
  const { kind, abstained, confidence } = answer;
  const text = limit.all(answer.text);
  return {
    text,
    citations: citationsIn(text, answer),
    kind,
    abstained,
    confidence,
    mode: 'extractive',
    model: builtInModel,
    usage: null,
    finishReason: limit.cut ?? 'stop',
    unsupported: [],
    warnings,
  };
}

/** The citations of what is left of an answer. */
function citationsIn({ length }: string, { citations }: Answer): Answer['citations'] {
  return citations.filter(({ answer_end: end }) => end <= length);
}

/** Sentences of the domain API and of documents, one after the other, at a place of the answer. */
function quotedAnswer(parts: WriteParts, startAt: number): Answer {
  const answer = composedAnswer(parts, startAt);
  const notice = noticeOf(parts, answer);
  return notice === '' ? answer : { ...answer, text: `${answer.text} ${notice}` };
}

/** The words for data that could not be asked; empty if it was, or if the documents have the answer and nothing was to be asked. */
function noticeOf({ calls }: WriteParts, { abstained }: Pick<Answer, 'abstained'>): string {
  if (!calls?.failed) return calls?.isWithoutNames && abstained ? dataNotAsked : '';
  return calls.trace.some(({ status }) => status === 'ok') ? dataNotWhole : dataNotAsked;
}

function composedAnswer(parts: WriteParts, startAt: number): Answer {
  const { quoted, isLikely, calls, isPartForDocuments = false } = parts;
  const hasData = calls?.trace.some(({ status, step }) => status === 'ok' && !calls.told.has(step)) ?? false;
  const data = calls && outcomeOf(calls);
  if (!calls || !data || !(hasData || data.isEmpty)) return shiftCitations(quoted, startAt);
  // Records under only a part of the conditions are no answer where the documents have one.
  if (data.isVague && isLikely && !data.isNamed) return shiftCitations(quoted, startAt);
  const withDocuments = isPartForDocuments || (isLikely && (data.isNamed || !data.isWhole));
  const confidence = data.isVague ? 0.3 : data.isWhole || data.isNamed ? 0.9 : 0.6;
  if (!withDocuments) {
    const api = apiSentences(calls, startAt);
    const isNone = api.citations.length === 0 && (data.isVague || !data.isCount);
    return { ...trimCitations(api, startAt), ...outcome(isNone ? 'none' : 'quote', confidence) };
  }
  const isDataFirst = !isLikely || data.isNamed;
  const kind = quoted.kind === 'none' || data.isNamed || data.isWhole ? 'quote' : quoted.kind;
  const whole = outcome(kind, Math.max(quoted.confidence, confidence));
  if (isDataFirst) {
    const api = trimCitations(apiSentences(calls, startAt), startAt);
    const documents = shiftCitations(quoted, startAt + api.text.length + 1);
    const citations = [...api.citations, ...documents.citations];
    return { text: `${api.text} ${documents.text}`, citations, ...whole };
  }
  const documents = shiftCitations(quoted, startAt);
  const after = startAt + documents.text.length + 1;
  const api = trimCitations(apiSentences(calls, after), after);
  const citations = [...documents.citations, ...api.citations];
  return { text: `${documents.text} ${api.text}`, citations, ...whole };
}

function outcome(kind: Answer['kind'], confidence: number) {
  return { kind, abstained: kind === 'closest' || kind === 'none', confidence };
}

/** Extent to which the calls of a turn answer its question. */
function outcomeOf({ trace, findings }: ToolCalls) {
  return {
    isNamed: trace.some(({ reason }) => reason.startsWith('The question names')),
    /** True if all that was asked for was found or is known not to exist. */
    isWhole: findings.length > 0 && findings.every(({ unapplied }) => unapplied.length === 0),
    isVague: findings.some(({ unapplied }) => unapplied.length > 0),
    isEmpty: findings.some(({ rows }) => rows.length === 0),
    isCount: findings.some(({ isCount }) => isCount),
  };
}

/** Sentences begin with a space if text precedes them; here the caller adds it when joining. */
function trimCitations(
  api: ReturnType<typeof apiSentences>,
  startAt: number,
): Pick<Answer, 'text' | 'citations'> {
  if (startAt === 0 || !api.text.startsWith(' ')) return api;
  const citations = api.citations.map((each) => ({
    ...each,
    answer_start: each.answer_start - 1,
    answer_end: each.answer_end - 1,
  }));
  return { text: api.text.slice(1), citations };
}

function shiftCitations(answer: Answer, by: number): Answer {
  const citations = answer.citations.map((each) => ({
    ...each,
    answer_start: each.answer_start + by,
    answer_end: each.answer_end + by,
  }));
  return { ...answer, citations };
}

/** Runs the planned tool calls, unless the model called a tool. */
async function callPlannedToolsOnce(parts: WriteParts): Promise<void> {
  const { calls, names, question, signal, found, isLikely } = parts;
  if (!calls || !names || calls.trace.length > 0) return;
  const documents = {
    has: (word: string) => stemsOf(word).every((stem) => found.evidence.isKnown(stem)),
    isAnswered: isLikely,
  };
  try {
    await callPlanned(calls, names, { question, documents });
  } catch (error) {
    if (!signal.aborted) throw toAppError(error);
  }
}
