import type { AnswerKind, ChatMessage, Citation, Language, Source } from '@octavo/reader';
import type { Sampling } from '../model/index.ts';
import type { Filters, Strategy } from '../retrieval/index.ts';
import type { ApiData, TraceStep } from '../tools/index.ts';
import type { OutputBounds } from './output-limit.ts';

/** One question, as every transport hands it to `Turns.begin`. */
export interface TurnRequest {
  readonly requestId: string;
  readonly query: string;
  readonly strategy: Strategy;
  /** A session of the owner; without one it is made. */
  readonly sessionId?: string | undefined;
  /** Number of sources; five by default, and with a model as many as fit its context. */
  readonly topK: number | undefined;
  readonly rerank?: boolean | undefined;
  readonly usesTools: boolean;
  readonly filters?: Filters | undefined;
  /** Earlier messages, if the client sends them; those of the session by default. */
  readonly history?: readonly ChatMessage[] | undefined;
  /** Extra instructions, such as a system message. */
  readonly instructions?: string | undefined;
  /** The built-in one even if a model is configured. */
  readonly isExtractive?: boolean | undefined;
  /** The configured model of that name; the first one by default. */
  readonly modelName?: string | undefined;
  /** Bounds of the text, and how a model is to choose its words. */
  readonly writing?: (OutputBounds & Sampling) | undefined;
  /** Deviations from what the client sent, in words for it. */
  readonly warnings?: readonly string[] | undefined;
  /** Language of the client, for questions that do not tell theirs. */
  readonly preferred?: Language | undefined;
  /** True if a session keeps question and answer; the default. */
  readonly isKept?: boolean | undefined;
}

export type FinishReason = 'stop' | 'length' | 'cancelled' | 'error';

export interface TurnIds {
  readonly request_id: string;
  readonly session_id: string;
  readonly message_id: string;
}

export interface Usage {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly total_tokens: number;
}

export interface TurnMetadata {
  readonly mode: 'extractive' | 'llm';
  readonly model: string;
  readonly usage: Usage | null;
  readonly finish_reason: FinishReason;
  readonly warnings: readonly string[];
  readonly [name: string]: unknown;
}

/** The body of an answer, as `POST /api/chat` returns it. */
export interface TurnAnswer extends TurnIds {
  readonly success: true;
  readonly query: string;
  readonly strategy: Strategy;
  readonly answer: string;
  readonly kind: AnswerKind;
  readonly grounded: boolean;
  readonly abstained: boolean;
  readonly citations: readonly Citation[];
  readonly sources: readonly Source[];
  readonly api_data: ApiData;
  readonly api_chain_trace: readonly TraceStep[];
  readonly metadata: TurnMetadata;
}

/** A model is `reading` whole documents by parts, `loading` until its first piece, and `thinking` before its text. */
export type Stage = 'retrieving' | 'calling_tools' | 'reading' | 'loading' | 'thinking' | 'generating';

/** Parts of a stage that are done, where it has parts. */
export interface Progress {
  readonly done: number;
  readonly total: number;
}

export interface TurnFailure {
  readonly request_id: string;
  readonly code: string;
  readonly message: string;
  readonly retryable: boolean;
}

/** Events of a turn, in this order. The texts of all `delta` together are the answer. */
export type TurnEvent =
  | { readonly event: 'start'; readonly data: TurnIds }
  | {
      readonly event: 'status';
      readonly data: { readonly request_id: string; readonly stage: Stage } & Partial<Progress>;
    }
  | { readonly event: 'tool'; readonly data: { readonly request_id: string; readonly step: TraceStep } }
  | { readonly event: 'sources'; readonly data: { readonly sources: readonly Source[] } }
  | { readonly event: 'delta'; readonly data: { readonly seq: number; readonly text: string } }
  | { readonly event: 'citation'; readonly data: Citation }
  | { readonly event: 'done'; readonly data: TurnAnswer }
  | { readonly event: 'error'; readonly data: TurnFailure };

/** Receives the events of a turn. */
export type Emit = (event: TurnEvent) => void;
