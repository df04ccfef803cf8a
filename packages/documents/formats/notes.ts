import { sentencesOf } from '../sentences.ts';

/** A note with its place in a text. */
export interface Note {
  readonly at: number;
  readonly text: string;
}

/** A paragraph with each of its notes in brackets after the sentence that it belongs to. */
export function withNotes(text: string, notes: readonly Note[]): string {
  const told = notes.filter((note) => note.text.trim() !== '');
  if (told.length === 0) return text;
  const ends = sentencesOf(text).map(({ end }) => end);
  let [whole, from] = ['', 0];
  for (const note of told) {
    const end = Math.max(from, ends.find((each) => each >= note.at) ?? text.length);
    whole += `${text.slice(from, end)} [${note.text.replace(/\s+/g, ' ').trim()}]`;
    from = end;
  }
  return whole + text.slice(from);
}
