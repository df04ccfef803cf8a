/** A part of a document, with the fields that are shown. */
export interface Passage {
  readonly id: number;
  readonly chunkId: string;
  readonly document: number;
  readonly documentId: string;
  readonly filename: string;
  readonly title: string;
  readonly section: string;
  readonly page: number | null;
  /** Its number in the document, from 0. */
  readonly place: number;
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** Title, section and name of file: they tell what a passage is about without being part of it. */
export function aboveOf({
  title,
  section,
  filename,
}: Pick<Passage, 'title' | 'section' | 'filename'>): string {
  return `${title} ${section} ${filename}`;
}
