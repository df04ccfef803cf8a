import { toAppError } from '@octavo/core';
import { stemsOf } from '@octavo/data/terms';
import type { Answer } from '@octavo/reader';
import { type ChatModel, checkSupport, type ToolOffer } from '../model/index.ts';
import type { Found } from '../retrieval/index.ts';
import {
  apiSentences,
  callPlanned,
  concernsData,
  domainTools,
  type Names,
  type ToolCalls,
} from '../tools/index.ts';
import { type Draft, type DraftParts, streamDraft } from './draft.ts';
import type { OutputLimit } from './output-limit.ts';
import type { FinishReason, Usage } from './turn.ts';

export const builtInModel = 'builtin-extractive';
const dataNotAsked = 'The domain data could not be asked.';
const translated =
  'The answer is in another language than its sources, so only its numbers were compared with them.';
const dataNotWhole = 'Not all of the domain data could be asked.';

/** Sources of an answer, and the receiver of its text. */
export interface WriteParts extends DraftParts {
  readonly model: ChatModel | undefined;
  readonly names: Names | undefined;
  readonly found: Found;
  /** The answer quoted from documents. */
  readonly documentAnswer: Answer;
  /** True if the documents are likely to answer, also where the answer does not stand alone. */
  readonly isLikely: boolean;
  /** True if the passages are for a part of the question that the domain data does not answer. */
  readonly hasDataPart?: boolean;
  readonly foreignTools: readonly ToolOffer[];
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
  const extracted = extractiveAnswer(parts, drafted.text.length + 2);
  const more = parts.limit.all(`\n\n${extracted.text}`);
  if (more !== '') parts.onText(more);
  const before = checkSupport(drafted.text, found.ranked, calls);
  const text = drafted.text + more;
  return {
    ...extracted,
    text,
    citations: [...before.citations, ...citationsIn(text, extracted)],
    mode: 'extractive',
    model: builtInModel,
    usage: drafted.usage,
    finishReason: parts.limit.cut ?? 'error',
    unsupported: before.unsupported,
    warnings: [warning],
  };
}

/** The model is asked once more where a call of a tool was printed or refused, and where its context was too small. */
async function draft(parts: WriteParts, model: ChatModel): Promise<Draft> {
  const contextTokens = await model.contextTokens(parts.modelName ?? model.defaultName);
  const tools = await toolsOf(parts);
  const first = await streamDraft(parts, model, { tools, contextTokens });
  const canRepeat = first.problem !== undefined && first.text === '' && first.cause !== 'silence';
  if (!canRepeat || parts.signal.aborted) return first;
  if (first.cause === 'context') {
    const smaller = Math.min(first.namedContext ?? contextTokens, contextTokens / 2);
    return streamDraft(parts, model, { tools: [], contextTokens: Math.floor(smaller) });
  }
  if (tools.length === 0) return first;
  await callPlannedToolsOnce(parts);
  return streamDraft(parts, model, { tools: [], contextTokens });
}

/** The tools that may help with a question: those of the data only where it is about the data, or where the documents have nothing. */
async function toolsOf(parts: WriteParts): Promise<readonly ToolOffer[]> {
  const { calls, names, question, documentAnswer, foreignTools } = parts;
  if (!calls) return [];
  const hasNothing = documentAnswer.kind === 'none';
  const isForData = names !== undefined && (hasNothing || (await concernsData(names, question)));
  const questionStems = new Set(stemsOf(question));
  const isNamed = ({ name, description }: ToolOffer) =>
    stemsOf(`${name.replaceAll('_', ' ')} ${description}`).some((stem) => questionStems.has(stem));
  return [
    ...(isForData ? dataTools(calls) : []),
    ...foreignTools.filter((offer) => hasNothing || isNamed(offer)),
  ];
}

function dataTools(calls: ToolCalls): ToolOffer[] {
  return domainTools.map(({ name, description, parameters }) => ({
    name,
    description,
    parameters: { ...parameters },
    async call(params) {
      const { step, rows } = await calls.call(name, params, { reason: 'The model asked for it.' });
      const { status, error } = step;
      return { cite_as: `[A${step.step}]`, status, ...(error && { error }), results: rows.slice(0, 50) };
    },
  }));
}

/** A draft with its citations, and what no source supports. */
export function checked(parts: DraftParts, drafted: Draft): Written {
  const { found, calls, onText } = parts;
  const { name, usage, finish } = drafted;
  const { citations, unsupported, supported, isTranslated } = checkSupport(drafted.text, found.ranked, calls);
  const abstained = drafted.saysNothing && citations.length === 0;
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
    warnings: isTranslated ? [translated] : [],
  };
}

async function extractive(parts: WriteParts, warnings: readonly string[]): Promise<Written> {
  await callPlannedToolsOnce(parts);
  const written = writtenWithoutModel(extractiveAnswer(parts, 0), parts.limit, warnings);
  if (written.text !== '') parts.onText(written.text);
  return written;
}

/** An answer that was written without a model, as far as the client wants it. */
export function writtenWithoutModel(
  answer: Answer,
  limit: OutputLimit,
  warnings: readonly string[] = [],
): Written {
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
function extractiveAnswer(parts: WriteParts, startAt: number): Answer {
  const answer = composedAnswer(parts, startAt);
  const notice = noticeOf(parts, answer);
  return notice === '' ? answer : { ...answer, text: `${answer.text} ${notice}` };
}

/** The words for data that could not be asked; empty if it was, or if the documents have the answer and nothing was to be asked. */
function noticeOf({ calls }: Pick<WriteParts, 'calls'>, { abstained }: Pick<Answer, 'abstained'>): string {
  if (!calls?.failed) return calls?.isWithoutNames && abstained ? dataNotAsked : '';
  return calls.trace.some(({ status }) => status === 'ok') ? dataNotWhole : dataNotAsked;
}

function composedAnswer(parts: WriteParts, startAt: number): Answer {
  const { documentAnswer, isLikely, calls, hasDataPart = false } = parts;
  const hasData = calls?.trace.some(({ status, step }) => status === 'ok' && !calls.told.has(step)) ?? false;
  const data = calls && outcomeOf(calls);
  if (!calls || !data || !(hasData || data.isEmpty)) return shiftCitations(documentAnswer, startAt);
  // Records under only a part of the conditions are no answer where the documents have one.
  if (data.isVague && isLikely && !data.isNamed) return shiftCitations(documentAnswer, startAt);
  // What documents were asked for may be told by the data after all.
  const isTold = data.isWhole && documentAnswer.kind === 'none';
  const withDocuments = (hasDataPart && !isTold) || (isLikely && (data.isNamed || !data.isWhole));
  const confidence = data.isVague ? 0.3 : data.isWhole || data.isNamed ? 0.9 : 0.6;
  if (!withDocuments) {
    const api = apiSentences(calls, startAt);
    const isNone = api.citations.length === 0 && (data.isVague || !data.isCount);
    return { ...trimCitations(api, startAt), ...outcome(isNone ? 'none' : 'quote', confidence) };
  }
  const isDataFirst = !isLikely || data.isNamed;
  const kind = documentAnswer.kind === 'none' || data.isNamed || data.isWhole ? 'quote' : documentAnswer.kind;
  const whole = outcome(kind, Math.max(documentAnswer.confidence, confidence));
  if (isDataFirst) {
    const api = trimCitations(apiSentences(calls, startAt), startAt);
    const documents = shiftCitations(documentAnswer, startAt + api.text.length + 1);
    const citations = [...api.citations, ...documents.citations];
    return { text: `${api.text} ${documents.text}`, citations, ...whole };
  }
  const documents = shiftCitations(documentAnswer, startAt);
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
