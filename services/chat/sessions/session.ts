import type { Owner } from '../owner.ts';

export const titleMax = 200;
export const metadataBytesMax = 4_096;
/** How long a session is kept after its last use. */
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

/** What one side said. */
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
  return [...line].length > 80 ? `${[...line].slice(0, 79).join('')}…` : line;
}
