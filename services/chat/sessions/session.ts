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

function answer({ content, details }: Message): string {
  const sources = (details.sources ?? []) as {
    index: number;
    title: string;
    section: string;
    source: string;
  }[];
  const listed = sources
    .filter(({ index }) => content.includes(`[${index}]`))
    .map(({ index, title, section, source }) => {
      const place = section === '' ? '' : `, ${oneLine(section)}`;
      return `- [${index}] ${oneLine(title)}${place} (${oneLine(source)})`;
    });
  return [content, ...(listed.length > 0 ? [`Sources:\n\n${listed.join('\n')}`] : [])].join('\n\n');
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
