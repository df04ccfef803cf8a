import { type ChatMessage, type Language, type Ranked, texts } from '@octavo/reader';
import {
  AnswerFilter,
  type ChatModel,
  Citer,
  causeOf,
  contextNamed,
  type FailureCause,
  isToolCall,
  markerFor,
  mayBeToolCall,
  promptOf,
  type Sampling,
  type ToolOffer,
} from '../model/index.ts';
import type { ToolCalls } from '../tools/index.ts';
import type { OutputBounds, OutputLimit } from './output-limit.ts';
import type { FinishReason, Stage, Usage } from './turn.ts';

const answerMax = 20_000;
const leading = /^[*_`"'>]{0,9}$/;

/** Material of a draft, and the receiver of its text. */
export interface DraftParts {
  /** The question as it is understood, and as it was asked. */
  readonly question: string;
  readonly originalQuestion: string;
  readonly found: { readonly ranked: readonly Ranked[] };
  /** Sources as the model reads them, if that is not their text. */
  readonly prompted?: readonly Ranked[];
  /** Undefined if no tools may be used. */
  readonly calls: ToolCalls | undefined;
  readonly history: readonly ChatMessage[];
  readonly instructions: string | undefined;
  readonly modelName: string | undefined;
  readonly sampling: Sampling & OutputBounds;
  /** Passes the text on as far as the client wants it. */
  readonly limit: OutputLimit;
  readonly language: Language;
  readonly nowMs: number;
  readonly signal: AbortSignal;
  readonly onText: (text: string) => void;
  readonly onStage: (stage: Stage) => void;
}

/** Text of a model. */
export interface Draft {
  readonly text: string;
  readonly name: string;
  readonly usage: Usage | null;
  readonly finish: FinishReason;
  /** True if it said that the sources have no answer. */
  readonly saysNothing: boolean;
  /** The end of "The model ..."; undefined for an answer. */
  readonly problem?: string | undefined;
  readonly cause?: FailureCause | undefined;
}

/** Differences between a request to a model and the one before, which failed. */
export interface DraftRequest {
  readonly tools: readonly ToolOffer[];
  /** Tokens that it reads and writes at most. */
  readonly contextTokens: number;
}

/** Passes an answer of the model on as it is written. */
export async function streamDraft(
  parts: DraftParts,
  model: ChatModel,
  { tools, contextTokens }: DraftRequest,
): Promise<Draft & { readonly namedContext?: number | undefined }> {
  const { found, calls, history, instructions, signal, onStage, sampling, nowMs } = parts;
  const name = parts.modelName ?? model.defaultName;
  const given = { ranked: parts.prompted ?? found.ranked, calls, history, instructions };
  const prompt = promptOf({ question: parts.originalQuestion, ...given, nowMs, contextTokens });
  const text = new DraftText(parts);
  let usage: Usage | null = null;
  const end = (finish: FinishReason, problem?: string, cause?: FailureCause): Draft => {
    const { sent, saysNothing } = text;
    return { text: sent, saysNothing, name, usage, finish: parts.limit.cut ?? finish, problem, cause };
  };
  onStage('loading');
  try {
    for await (const part of model.stream({ ...sampling, ...prompt, name, tools, signal })) {
      if ('isThinking' in part) onStage('thinking');
      else if ('text' in part) text.push(part.text);
      else usage = part.usage;
      if (text.saysNothing) break;
      const isCut = 'finish' in part && part.finish === 'length' && text.sent.trim() !== '';
      if (isCut || parts.limit.cut || text.sent.length > answerMax) {
        text.end(false);
        return end('length');
      }
    }
  } catch (error) {
    text.end(false);
    if (signal.aborted) return end('cancelled');
    const cause = causeOf(error);
    const problem = cause === 'silence' ? 'took too long' : 'failed';
    return { ...end('error', problem, cause), namedContext: contextNamed(error) };
  }
  text.end(true);
  if (text.isToolCall) return end('error', 'printed a call of a tool', 'other');
  const shortQuestion = parts.question.slice(0, 60).toWellFormed();
  return text.sent.trim() === '' && !parts.limit.cut
    ? end('error', `gave no answer to "${shortQuestion}"`)
    : end('stop');
}

const nothings = new Set(Object.values(texts).map(({ nothing }) => nothing));

/** The text of a draft on its way to the reader: cleaned, with the markers of its sources, and within the limit of the client. */
class DraftText {
  /** Text that was passed on. */
  sent = '';
  /** True if the model printed a call of a tool instead of an answer. */
  isToolCall = false;
  readonly #parts: DraftParts;
  readonly #filter: AnswerFilter;
  readonly #citer: Citer;
  /** The beginning, which waits until it is known to be an answer. */
  #begun: string | undefined = '';
  /** Spaces and signs before the first word, with which a model may say that there is no answer; undefined after them. */
  #lead: string | undefined = '';
  #isOurNothing = false;

  constructor(parts: DraftParts) {
    const { found, calls } = parts;
    const allowed = found.ranked.map(({ passage }) => passage.text).join('\n');
    this.#parts = parts;
    this.#filter = new AnswerFilter({
      isKnown: (marker) => isKnown(marker, parts),
      isAllowed: (url) => /^https?:\/\//.test(url) && allowed.includes(url),
    });
    this.#citer = new Citer((sentence) => markerFor(sentence, found.ranked, calls));
  }

  /** Also by our own words, which a model sees in the answers before. */
  get saysNothing(): boolean {
    return this.#filter.saysNothing || this.#isOurNothing;
  }

  push(piece: string): void {
    const begun = (this.#begun ?? '') + piece;
    const isWaiting = this.#begun !== undefined && mayBeToolCall(begun);
    this.#begun = isWaiting ? begun : undefined;
    if (!isWaiting) this.#pass(this.#filter.push(begun));
  }

  /** Passes on what waited; `isWhole` if the model came to an end. */
  end(isWhole: boolean): void {
    const begun = this.#begun ?? '';
    this.#begun = undefined;
    this.isToolCall = isToolCall(begun);
    if (!this.isToolCall) this.#pass(this.#filter.push(begun));
    this.#pass(this.#filter.end());
    if (!this.saysNothing) this.#send(this.#parts.limit.push(this.#citer.end(isWhole)));
    if (this.saysNothing && this.sent === '') this.#send(texts[this.#parts.language].nothing);
    this.#send(this.#parts.limit.end());
    this.#isOurNothing = isWhole && nothings.has(this.sent.trim());
  }

  #pass(cleaned: string): void {
    const piece = this.#lead === undefined ? cleaned : this.#lead + cleaned.trimStart();
    if (this.#lead !== undefined && leading.test(piece)) this.#lead = piece;
    else {
      this.#lead = undefined;
      this.#send(this.#parts.limit.push(this.#citer.push(piece)));
    }
  }

  #send(piece: string): void {
    if (piece === '') return;
    this.sent += piece;
    this.#parts.onText(piece);
  }
}

function isKnown(marker: string, { found, calls }: DraftParts): boolean {
  if (!marker.startsWith('A')) return found.ranked[Number(marker) - 1] !== undefined;
  const step = Number(marker.slice(1));
  return calls?.trace.some((each) => each.step === step && each.status === 'ok') ?? false;
}
