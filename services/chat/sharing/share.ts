import type { Citation, Language } from '@octavo/reader';
import { detailsOf, type Message } from '../sessions/index.ts';

/** Time for which a chat is shared. */
export const sharedMs = 30 * 86_400_000;

/** The content of a shared page. It has nothing of the documents but quotes. */
export interface Snapshot {
  readonly title: string;
  readonly turns: readonly SharedTurn[];
}

export interface SharedTurn {
  readonly question: string;
  /** Without the quotes, unless a model wrote it; may be empty. */
  readonly text: string;
  /** True if a model wrote the text, as Markdown. */
  readonly isWritten: boolean;
  readonly language: Language;
  /** Sentences of the text that no source supports. */
  readonly unsupported: readonly string[];
  readonly quotes: readonly SharedQuote[];
}

export interface SharedQuote {
  /** The number in the markers of the text. */
  readonly index: number;
  readonly text: string;
}

/** A turn that may be shared, and the documents that it quotes. */
export interface QuotingTurn {
  readonly turn: SharedTurn;
  readonly documents: ReadonlySet<string>;
}

/** The turns of a chat without what is not shared: answers without a question, without words, and replies about the library. */
export function shareableTurns(messages: readonly Message[]): QuotingTurn[] {
  return messages.flatMap((answer, at) => {
    const question = messages[at - 1];
    if (answer.role !== 'assistant' || question?.role !== 'user' || answer.content === '') return [];
    const turn = sharedTurn(question.content, answer);
    const isLibrary = detailsOf(answer).kind === 'reply' && turn.quotes.length === 0;
    if (isLibrary) return [];
    const cited = documentCitations(answer).map(({ document_id }) => document_id);
    return [{ turn, documents: new Set(cited) }];
  });
}

function sharedTurn(question: string, answer: Message): SharedTurn {
  const { kind, language } = detailsOf(answer);
  const { metadata = {} } = answer.details as {
    readonly metadata?: {
      readonly mode?: string;
      readonly unsupported?: readonly { readonly start: number; readonly end: number }[];
    };
  };
  const isWritten = metadata.mode === 'llm';
  const quotes = quotesOf(answer);
  const known = `${question}\n${quotes.map(({ text }) => text).join('\n')}`;
  const hide = (text: string) => withoutNames(text, answer, known);
  // A reply names the document that it quotes, and its sections.
  const own = kind === 'reply' ? '' : wordsBeside(answer);
  return {
    question,
    text: hide(isWritten ? answer.content : own),
    isWritten,
    language,
    unsupported: (metadata.unsupported ?? []).map(({ start, end }) => hide(answer.content.slice(start, end))),
    quotes,
  };
}

function quotesOf(answer: Message): SharedQuote[] {
  const quotes = new Map<string, SharedQuote>();
  for (const { source_index: index, quote } of documentCitations(answer))
    quotes.set(`${index} ${quote}`, { index, text: quote });
  return [...quotes.values()].sort((one, other) => one.index - other.index);
}

/** The text of an answer that is not quoted, without its markers. */
function wordsBeside(answer: Message): string {
  const { kind } = detailsOf(answer);
  const cited = documentCitations(answer).toSorted((one, other) => one.answer_start - other.answer_start);
  let text = '';
  let from = 0;
  for (const { answer_start, answer_end } of cited) {
    text += answer.content.slice(from, Math.max(from, answer_start));
    from = Math.max(from, answer_end);
  }
  // Between and behind the places that come closest there are only their numbers.
  if (kind !== 'closest' || cited.length === 0) text += answer.content.slice(from);
  return text.replace(/\s*\[A?\d+\]/g, '').trim();
}

/** The text without names of files, and without titles of documents that are neither in the question nor quoted. */
function withoutNames(text: string, answer: Message, known: string): string {
  const { sources } = detailsOf(answer);
  const titles = sources.flatMap(({ title }) => (known.includes(title) ? [] : [title]));
  const names = new Set([...sources.map(({ source }) => source), ...titles]);
  const longestFirst = [...names].filter(({ length }) => length > 2).sort((a, b) => b.length - a.length);
  return longestFirst.reduce((rest, name) => rest.replaceAll(name, '…'), text);
}

function documentCitations(answer: Message) {
  return detailsOf(answer).citations.filter(
    (each): each is Extract<Citation, { kind: 'document' }> => each.kind === 'document',
  );
}
