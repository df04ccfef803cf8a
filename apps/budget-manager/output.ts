/** One column of a table. */
export interface Column<T> {
  readonly title: string;
  readonly text: (row: T) => string;
  readonly align?: 'right';
}

/** Writes results to standard output and everything else to standard error. */
export class Output {
  readonly json: boolean;
  readonly #quiet: boolean;

  constructor({ json, quiet }: { json: boolean; quiet: boolean }) {
    this.json = json;
    this.#quiet = quiet;
  }

  line(text: string): void {
    process.stdout.write(`${text}\n`);
  }

  /** One line of JSON. */
  object(value: unknown): void {
    this.line(jsonText(value));
  }

  /** Rows as a table, or one JSON object a line. */
  rows<T>(rows: readonly T[], columns: readonly Column<T>[]): void {
    if (this.json) for (const row of rows) this.object(row);
    else for (const line of tableOf(rows, columns)) this.line(line);
  }

  note(text: string): void {
    if (!this.#quiet) process.stderr.write(`${text}\n`);
  }

  /** A bar on a terminal; nothing elsewhere. `done` and `total` in any unit. */
  progress(label: string, done: number, total: number): void {
    if (this.#quiet || !process.stderr.isTTY) return;
    const width = 30;
    const filled = total === 0 ? width : Math.round((done / total) * width);
    const bar = `${'█'.repeat(filled)}${'░'.repeat(width - filled)}`;
    process.stderr.write(`\r${label} ${bar} ${done}/${total}${done >= total ? '\n' : ''}`);
  }
}

function tableOf<T>(rows: readonly T[], columns: readonly Column<T>[]): string[] {
  const cells = rows.map((row) => columns.map(({ text }) => printable(text(row))));
  const widths = columns.map(({ title }, at) =>
    Math.max(title.length, ...cells.map((row) => lengthOf(row[at] ?? ''))),
  );
  const line = (texts: readonly string[]) =>
    texts
      .map((text, at) => {
        const space = ' '.repeat((widths[at] ?? 0) - lengthOf(text));
        return columns[at]?.align === 'right' ? space + text : text + space;
      })
      .join('  ')
      .trimEnd();
  return [line(columns.map(({ title }) => title)), ...cells.map(line)];
}

/** Control characters, line breaks, and marks that change the direction of text. */
const control = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

/** A text of someone else on one line: it must not move the cursor. */
export function printable(text: string): string {
  return text.replace(control, ' ');
}

/** JSON in which nothing controls a terminal. `indent` is in spaces. */
export function jsonText(value: unknown, indent = 0): string {
  return JSON.stringify(value, null, indent).replace(control, (character) =>
    character === '\n' ? character : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function lengthOf(text: string): number {
  return [...text].length;
}
