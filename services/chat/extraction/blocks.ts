/** A piece of a document in its order: a heading, or a paragraph, a row of a table, a point of a list. */
export interface Block {
  readonly text: string;
  /** Of a heading, from 1; absent for text. */
  readonly level?: number;
  readonly page?: number;
}

/** What was read from a file. */
export interface Extracted {
  readonly blocks: Block[];
  readonly title?: string | undefined;
  readonly pages?: number;
  readonly warnings?: readonly string[];
}
