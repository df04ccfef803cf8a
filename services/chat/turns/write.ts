import { toAppError } from '#kit/errors.ts';
import { type Answer, extractiveAnswer, nothingFound } from '../answers/index.ts';
import { AnswerFilter, type ChatModel, checkSupport, promptOf, type ToolOffer } from '../model/index.ts';
import type { Found } from '../retrieval/index.ts';
import { apiSentences, callPlanned, domainTools, type Names, type ToolCalls } from '../tools/index.ts';
import type { FinishReason, Said, Usage } from './turn.ts';

const answerMax = 20_000;
export const builtInModel = 'builtin-extractive';

/** What an answer is written from, and where its text goes. */
export interface WriteParts {
  readonly model: ChatModel | undefined;
  readonly names: Names | undefined;
  /** The question as it is understood, and as it was asked. */
  readonly question: string;
  readonly asked: string;
  readonly found: Found;
  /** Undefined if no tools may be used. */
  readonly calls: ToolCalls | undefined;
  readonly foreignTools: readonly ToolOffer[];
  readonly history: readonly Said[];
  readonly instructions: string | undefined;
  readonly modelName: string | undefined;
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
  await planOnce(parts);
  if (drafted.text === '') return extractive(parts, [warning]);
  // What was sent cannot be taken back, so the quotes follow it.
  parts.onText('\n\n');
  const start = drafted.text.length + 2;
  const quoted = quotedAnswer(parts, start);
  parts.onText(quoted.text);
  const before = checkSupport(drafted.text, found.ranked, calls);
  return {
    ...quoted,
    text: `${drafted.text}\n\n${quoted.text}`,
    citations: [...before.citations, ...quoted.citations],
    ...{ mode: 'extractive', model: builtInModel, usage: drafted.usage, finishReason: 'error' },
    ...{ unsupported: before.unsupported, warnings: [warning] },
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
  await planOnce(parts);
  return streamDraft(parts, model, []);
}

async function streamDraft(
  parts: WriteParts,
  model: ChatModel,
  tools: readonly ToolOffer[],
): Promise<Draft & { isSilent: boolean }> {
  const { question, asked, found, calls, history, instructions, signal, onText } = parts;
  const allowed = [...found.ranked.map(({ passage }) => passage.text)].join('\n');
  const filter = new AnswerFilter({
    isKnown: (marker) => isKnown(marker, parts),
    isAllowed: (url) => /^https?:\/\//.test(url) && allowed.includes(url),
  });
  const name = parts.modelName ?? model.defaultName;
  let text = '';
  let usage: Usage | null = null;
  const pass = (more: string) => {
    const piece = text === '' ? more.trimStart() : more;
    if (piece === '') return;
    text += piece;
    onText(piece);
  };
  const end = (finish: FinishReason, problem?: string, isSilent = false) => {
    return { text, name, usage, finish, isSilent, ...(problem !== undefined && { problem }) };
  };
  const prompt = promptOf({ question: asked, ranked: found.ranked, calls, history, instructions });
  try {
    for await (const part of model.stream({ ...prompt, name, tools, signal })) {
      if ('text' in part) pass(filter.push(part.text));
      else usage = part.usage;
      if ('finish' in part && part.finish === 'length') return finishWith('length');
      if (text.length > answerMax) return finishWith('length');
    }
  } catch (error) {
    if (signal.aborted) return finishWith('cancelled');
    pass(filter.end());
    const isSilent = (error as Error)?.name === 'TimeoutError';
    return end('error', isSilent ? 'took too long' : 'failed', isSilent);
  }
  const done = finishWith('stop');
  return done.text.trim() === '' ? end('error', `gave no answer to "${question.slice(0, 60)}"`) : done;

  function finishWith(finish: FinishReason) {
    pass(filter.end());
    return end(finish);
  }
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
      ...{ name, description, parameters: { ...parameters } },
      async call(params) {
        const { step, rows } = await calls.call(name, params, { reason: 'The model asked for it.' });
        const { status, error } = step;
        return { cite_as: `[A${step.step}]`, status, ...(error && { error }), results: rows.slice(0, 50) };
      },
    }),
  );
  return [...own, ...foreignTools];
}

function checked({ found, calls }: WriteParts, drafted: Draft): Written {
  const { text, name, usage, finish } = drafted;
  const saysNothing = text.includes(nothingFound);
  const { citations, unsupported } = checkSupport(text, found.ranked, calls);
  const abstained = saysNothing && citations.length === 0;
  return {
    ...{ text, citations, abstained, confidence: found.confidence, mode: 'llm', model: name, usage },
    ...{ finishReason: finish, unsupported: abstained ? [] : unsupported, warnings: [] },
  };
}

async function extractive(parts: WriteParts, warnings: readonly string[]): Promise<Written> {
  await planOnce(parts);
  const answer = quotedAnswer(parts, 0);
  parts.onText(answer.text);
  return {
    ...answer,
    ...{
      mode: 'extractive',
      model: builtInModel,
      usage: null,
      finishReason: 'stop',
      unsupported: [],
      warnings,
    },
  };
}

/** Sentences of the domain API and of documents, one after the other, at a place of the answer. */
function quotedAnswer({ found, calls }: WriteParts, startAt: number): Answer {
  const quoted = extractiveAnswer(found);
  const hasData = calls?.trace.some(({ status }) => status === 'ok') ?? false;
  if (!calls || !hasData) return shifted(quoted, startAt);
  const isNamed = calls.trace.some(({ reason }) => reason.startsWith('The question names'));
  if (quoted.abstained) {
    const api = apiSentences(calls, startAt);
    return { ...trimmed(api, startAt), abstained: false, confidence: isNamed ? 0.9 : 0.6 };
  }
  const confidence = Math.max(quoted.confidence, isNamed ? 0.9 : 0.6);
  if (isNamed) {
    const api = trimmed(apiSentences(calls, startAt), startAt);
    const documents = shifted(quoted, startAt + api.text.length + 1);
    const citations = [...api.citations, ...documents.citations];
    return { text: `${api.text} ${documents.text}`, citations, abstained: false, confidence };
  }
  const documents = shifted(quoted, startAt);
  const api = trimmed(
    apiSentences(calls, startAt + documents.text.length + 1),
    startAt + documents.text.length + 1,
  );
  const citations = [...documents.citations, ...api.citations];
  return { text: `${documents.text} ${api.text}`, citations, abstained: false, confidence };
}

/** Sentences begin with a space where something is before them; here the space is put by whoever joins them. */
function trimmed(api: ReturnType<typeof apiSentences>, startAt: number): Pick<Answer, 'text' | 'citations'> {
  if (startAt === 0 || !api.text.startsWith(' ')) return api;
  const citations = api.citations.map((each) => ({
    ...each,
    ...{ answer_start: each.answer_start - 1, answer_end: each.answer_end - 1 },
  }));
  return { text: api.text.slice(1), citations };
}

function shifted(answer: Answer, by: number): Answer {
  const citations = answer.citations.map((each) => ({
    ...each,
    ...{ answer_start: each.answer_start + by, answer_end: each.answer_end + by },
  }));
  return { ...answer, citations };
}

/** Calls what the question asks for, unless the model did. */
async function planOnce({ calls, names, question, signal }: WriteParts): Promise<void> {
  if (!calls || !names || calls.trace.length > 0) return;
  try {
    await callPlanned(calls, names, question);
  } catch (error) {
    if (!signal.aborted) throw toAppError(error);
  }
}
