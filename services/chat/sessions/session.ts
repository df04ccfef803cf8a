import { type AnswerKind, type Citation, type Language, languages, type Source, texts } from '@octavo/reader';
import type { Owner } from '../owner.ts';

export const titleMax = 200;
export const metadataBytesMax = 4_096;
/** Time for which a session is kept after its last use. */
export const keptMs = 30 * 86_400_000;
/** Beyond these, the oldest go. */
export const messagesMax = 200;
export const sessionsMax = 1_000;

/** A conversation of one owner. */
export interface Session {
  readonly id: string;
  readonly owner: Owner;
  readonly title: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  readonly messageCount: number;
}

/** A message of one side. */
export interface Message {
  readonly id: string;
  readonly role: 'user' | 'assistant';
  readonly content: string;
  readonly strategy: string | null;
  /** Of an answer: sources, citations, the trace of calls, metadata. */
  readonly details: Readonly<Record<string, unknown>>;
  readonly createdAtMs: number;
}

/** The title of a session that begins with a question. */
export function titleOf(query: string): string {
  const line = query.replace(/\s+/g, ' ').trim();
  if ([...line].length <= titleCharacters) return line;
  let kept = '';
  for (const { segment } of graphemes.segment(line)) {
    if ([...kept, ...segment].length >= titleCharacters) break;
    kept += segment;
  }
  return `${kept}…`;
}

const titleCharacters = 80;
/** Splits a text into characters as readers see them, such as an emoji of several. */
const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** A session as Markdown, with the sources of each answer. */
export function asMarkdown(session: Session, messages: readonly Message[]): string {
  const begun = new Date(session.createdAtMs).toISOString();
  const parts = messages.map((message) => (message.role === 'user' ? question(message) : answer(message)));
  return [`# ${oneLine(session.title)}`, `Begun ${begun}`, ...parts].join('\n\n').concat('\n');
}

function question({ content }: Message): string {
  return `## ${oneLine(content)}`;
}

/** Details of an answer as they are stored. */
export interface AnswerDetails {
  readonly kind: AnswerKind;
  readonly sources: readonly Source[];
  readonly citations: readonly Citation[];
  readonly language: Language;
}

/** The details of an answer. Those that were stored before answers had kinds and passages had best places are completed. */
export function detailsOf({ role, details }: Pick<Message, 'role' | 'details'>): AnswerDetails {
  const {
    kind,
    sources = [],
    citations = [],
    metadata = {},
  } = details as Partial<AnswerDetails> & {
    readonly metadata?: { readonly mode?: string; readonly confidence?: number; readonly language?: unknown };
  };
  const language = languages.find((each) => each === metadata.language) ?? 'en';
  const complete = sources.map((source) => ({ ...source, best: source.best ?? null }));
  return { kind: kind ?? formerKind(role, citations, metadata), sources: complete, citations, language };
}

function formerKind(
  role: Message['role'],
  { length }: readonly Citation[],
  { mode, confidence = 0 }: { readonly mode?: string; readonly confidence?: number },
): AnswerKind {
  if (mode === 'llm') return 'generated';
  if (role === 'user' || confidence === 1) return 'reply';
  return length > 0 ? 'quote' : 'none';
}

function answer(message: Message): string {
  const { sources, language } = detailsOf(message);
  const { warnings = [] } =
    (message.details as { metadata?: { warnings?: readonly string[] } }).metadata ?? {};
  const listed = sources
    .filter(({ index }) => message.content.includes(`[${index}]`))
    .map(({ index, title, section, page, source, best }) => {
      const place = section === '' ? '' : `, ${oneLine(section)}`;
      const onPage = page === null ? '' : `, ${texts[language].page} ${page}`;
      const quote = best === null ? '' : `\n  > ${oneLine(best.text)}`;
      return `- [${index}] ${oneLine(title)}${place}${onPage} (${oneLine(source)})${quote}`;
    });
  return [
    message.content,
    ...(listed.length > 0 ? [`Sources:\n\n${listed.join('\n')}`] : []),
    ...(warnings.length > 0
      ? [`Warnings:\n\n${warnings.map((each) => `- ${oneLine(each)}`).join('\n')}`]
      : []),
  ].join('\n\n');
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
