/** A piece of a document in its order: a heading, or a paragraph, a row of a table, a point of a list. */
export interface Block {
  readonly text: string;
  /** Level of a heading, from 1; absent for text. */
  readonly level?: number;
  readonly page?: number;
}

/** Content read from a file. */
export interface Extracted {
  readonly blocks: Block[];
  readonly title?: string | undefined;
  readonly pages?: number;
  readonly warnings?: readonly string[];
}

/** The values of a row, each with the name of its column where that has one. */
export function describedRow(header: readonly string[], row: readonly string[]): string {
  return row
    .map((cell, column) => [header[column]?.trim(), cell.trim()])
    .filter(([, cell]) => cell !== '')
    .map(([name, cell]) => (name ? `${name}: ${cell}` : cell))
    .join('; ');
}
