/** A cell of a row as it is written, which may reach over more columns and rows. */
export interface Cell {
  readonly text: string;
  readonly columns?: number;
  readonly rows?: number;
}

/** A cell in one of the columns that it covers; `first` is the first of them. */
interface Place {
  readonly text: string;
  readonly first: number;
}

const columnsMax = 1_000;
const headerRowsMax = 4;
/** A text that is longer is not repeated in other columns and rows. */
const repeatedMax = 500;

/**
 * The rows of one table as text with the names of their columns, in order. A cell that reaches over more columns or rows counts in each.
 * Several rows of names join: `Price / winter`.
 */
export class TableRows {
  /** Cells of rows above that still reach down, by column. */
  readonly #carried = new Map<number, Place & { left: number }>();
  #names: string[] = [];
  #width = 0;
  /** True while the next row may still have names. */
  #isInHeader = true;
  /** Rows below that cells of the header reach down to. */
  #headerBelow = 0;
  #mayGoOn = false;
  readonly #used = new Set<number>();

  /** True before the first row. */
  get isNew(): boolean {
    return this.#width === 0;
  }

  /** True if columns have names. */
  get hasNames(): boolean {
    return this.#names.length > 0;
  }

  /** Names of columns in which no row had a value. */
  get unusedNames(): string[] {
    return this.#names.filter(
      (name, column) => name !== '' && name !== this.#names[column - 1] && !this.#used.has(column),
    );
  }

  /** The text of one more row; undefined for an empty one, and for one that names columns, as all do with `isHeader`. */
  add(cells: readonly Cell[], isHeader = false): string | undefined {
    const row = this.#place(cells);
    const filled = row.filter((place) => place !== undefined && place.text !== '');
    const firsts = new Set(filled.map((place) => place?.first));
    this.#width = Math.max(this.#width, row.length);
    if (firsts.size === 0) return undefined;
    // One cell over all columns is a title, or one of a part.
    if (firsts.size === 1 && filled.length > 1 && filled.length >= this.#width) return filled[0]?.text;
    if (isHeader || (firsts.size > 1 && this.#goesOn(cells))) {
      this.#addNames(row, cells, isHeader);
      return undefined;
    }
    this.#isInHeader = false;
    return this.#described(row);
  }

  #place(cells: readonly Cell[]): (Place | undefined)[] {
    const row: (Place | undefined)[] = [];
    const takeCarried = () => {
      for (let above = this.#carried.get(row.length); above; above = this.#carried.get(row.length)) {
        if (--above.left === 0) this.#carried.delete(row.length);
        row.push(above);
      }
    };
    for (const { text, columns = 1, rows = 1 } of cells) {
      takeCarried();
      const [first, own] = [row.length, text.trim()];
      for (let column = first; column < first + Math.max(1, columns || 1) && column < columnsMax; column++) {
        const isRepeated = own.length <= repeatedMax;
        const place = { text: column === first || isRepeated ? own : '', first };
        row.push(place);
        if (rows > 1) this.#carried.set(column, { first, text: isRepeated ? own : '', left: rows - 1 });
      }
    }
    takeCarried();
    // A cell may reach down to the right of a gap.
    for (const [column, above] of this.#carried)
      if (column > row.length && above.left > 0) {
        row[column] = above;
        if (--above.left === 0) this.#carried.delete(column);
      }
    return Array.from(row);
  }

  /** True for a row that belongs to the names above: their cells reach down to it, or it divides one that reaches over columns. */
  #goesOn(cells: readonly Cell[]): boolean {
    if (!this.#isInHeader || !this.hasNames) return false;
    if (this.#headerBelow > 0) return true;
    const texts = cells.map(({ text }) => text.trim()).filter((text) => text !== '');
    return this.#mayGoOn && texts.every((text) => /^\p{L}[^.!?]{0,40}$/u.test(text));
  }

  #addNames(row: readonly (Place | undefined)[], cells: readonly Cell[], isHeader: boolean): void {
    const before = this.#isInHeader ? this.#names : [];
    this.#names = Array.from({ length: Math.max(row.length, before.length) }, (_, column) => {
      const [above = '', own = ''] = [before[column], row[column]?.text];
      if (own === '' || above === own || above.endsWith(` / ${own}`)) return above;
      return above === '' ? own : `${above} / ${own}`;
    });
    const isFirst = !this.#isInHeader || before.length === 0;
    const below = Math.max(...cells.map(({ rows = 1 }) => rows)) - 1;
    this.#headerBelow = isFirst ? Math.min(below, headerRowsMax - 1) : this.#headerBelow - 1;
    this.#mayGoOn = isFirst && !isHeader && cells.some(({ columns = 1 }) => columns > 1);
    this.#isInHeader = true;
  }

  #described(row: readonly (Place | undefined)[]): string {
    const isNamed = row.length <= this.#names.length;
    const parts: string[] = [];
    let last: { readonly first: number; readonly name: string } | undefined;
    for (const [column, place] of row.entries()) {
      if (place === undefined || place.text === '') continue;
      if (isNamed) this.#used.add(column);
      const name = isNamed ? (this.#names[column] ?? '') : '';
      // A name may be shared by fewer columns than a cell below it.
      const isSame =
        last?.first === place.first &&
        (name === '' || name === last.name || last.name.endsWith(` / ${name}`));
      last = { first: place.first, name };
      if (!isSame) parts.push(name === '' ? place.text : `${name}: ${place.text}`);
    }
    return parts.join('; ');
  }
}

const columnNames =
  /^(?:no\.?|id|names?|titles?|keys?|values?|types?|kinds?|units?|variables?|parameters?|options?|settings?|fields?|commands?|arguments?|attributes?|property|properties|defaults?|default value|meanings?|descriptions?|notes?|comments?|remarks?|examples?|dates?|years?|version|status)$/i;

/** Returns true if the first row of a table that tells nothing of names looks like names of columns by itself. */
export function namesColumns(cells: readonly string[]): boolean {
  return (
    cells.length > 2 &&
    cells.every((cell) => /^\p{Lu}[\p{L} ./()-]{0,30}$/u.test(cell)) &&
    cells.some((cell) => columnNames.test(cell))
  );
}

/** True for a first row of three or more short words, each above one column. */
export function mayName(cells: readonly Cell[]): boolean {
  const texts = cells.map(({ text }) => text.trim());
  return (
    cells.length > 2 &&
    cells.every(({ columns = 1, rows = 1 }) => columns === 1 && rows === 1) &&
    texts.every((text, column) => (column === 0 && text === '') || /^\p{L}[^\d.:!?]{0,40}$/u.test(text)) &&
    new Set(texts).size === texts.length
  );
}

/** True for a row of numbers below one that may name them. */
export function namesNumbers(names: readonly Cell[], cells: readonly Cell[]): boolean {
  const numbers = cells.filter(({ text }) => /\d/.test(text) && !/\p{L}{4}/u.test(text));
  return cells.length === names.length && numbers.length > cells.length / 2;
}

/** The rows of a whole table as text. The first `headers` of them name the columns; without any, the first one does if it looks like it. */
export function tableTexts(rows: readonly (readonly Cell[])[], headers = 0): string[] {
  const named = headers > 0 ? headers : Number(firstRowNames(rows));
  const table = new TableRows();
  const texts = rows.map((row, index) => table.add(row, index < named) ?? '');
  const unused = table.unusedNames;
  return [...(unused.length > 0 ? [unused.join('; ')] : []), ...texts].filter((text) => text !== '');
}

/** True for short words above a column of numbers, and for usual names of columns. */
function firstRowNames([first = [], ...rest]: readonly (readonly Cell[])[]): boolean {
  const texts = first.map(({ text }) => text.trim());
  if (rest.length === 0 || texts.length < 2) return false;
  if (namesColumns(texts)) return true;
  if (!texts.every((text, column) => (column === 0 && text === '') || /^\p{L}[^\d.!?]{0,40}$/u.test(text)))
    return false;
  return texts.some((_, column) => {
    const below = rest.filter((row) => row.length === texts.length).map((row) => row[column]?.text ?? '');
    return below.length > 0 && below.filter((text) => /\d/.test(text)).length > below.length / 2;
  });
}
