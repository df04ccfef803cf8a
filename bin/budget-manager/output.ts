/** One column of a table. */
export interface Column<T> {
  readonly title: string;
  readonly text: (row: T) => string;
  readonly align?: 'right';
}

/** What was asked for goes to standard output, everything else to standard error. */
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
    this.line(JSON.stringify(value));
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

/** A text of someone else must not move the cursor or start a line. */
function printable(text: string): string {
  return text.replace(/\p{Cc}/gu, ' ');
}

function lengthOf(text: string): number {
  return [...text].length;
}
