/** One record of RFC 4180, with CRLF. No cell can act as a formula in a spreadsheet: such text gets an apostrophe in front. */
export function csvRecord(cells: readonly string[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`;
}

function csvCell(text: string): string {
  const safe = startsFormula.test(text) && !plainNumber.test(text) ? `'${text}` : text;
  return /[",;\r\n]/.test(safe) || /^\s|\s$/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

// With apostrophes before it, too: reading removes exactly one.
const startsFormula = /^'*[=+\-@\t\r]/;
const plainNumber = /^[+-]?\d+(\.\d+)?$/;
const formulaGuard = /^'(?='*[=+\-@\t\r])/;

/**
 * The records of a CSV text (RFC 4180), separated by commas, semicolons or tabs, whichever the first line has. Empty lines are left
 * out, and the apostrophe of {@link csvRecord} is removed. Throws a `SyntaxError` for a quote that does not end.
 */
export function parseCsv(text: string): string[][] {
  const source = text.replace(/^\uFEFF/, '');
  const separator = separatorOf(source);
  const records: string[][] = [];
  let record: string[] = [];
  let at = 0;
  while (at < source.length) {
    const { cell, next } = readCell(source, at, separator);
    record.push(cell.replace(formulaGuard, ''));
    at = next;
    if (source[at] === separator) {
      at++;
      if (at < source.length) continue;
      record.push('');
    }
    if (source[at] === '\r' && source[at + 1] === '\n') at += 2;
    else if (at < source.length) at++;
    if (record.length > 1 || record[0] !== '') records.push(record);
    record = [];
  }
  return records;
}

/** Reads a cell from `at`; `next` is its separator, line end, or the end of the text. */
function readCell(source: string, at: number, separator: string): { cell: string; next: number } {
  if (source[at] !== '"') {
    let next = at;
    while (next < source.length && !`${separator}\r\n`.includes(source[next] as string)) next++;
    return { cell: source.slice(at, next), next };
  }
  let cell = '';
  let from = at + 1;
  for (;;) {
    const quote = source.indexOf('"', from);
    if (quote === -1)
      throw new SyntaxError(`the quote in line ${source.slice(0, at).split('\n').length} does not end`);
    cell += source.slice(from, quote);
    if (source[quote + 1] !== '"') return { cell, next: quote + 1 };
    cell += '"';
    from = quote + 2;
  }
}

function separatorOf(source: string): string {
  const [line = ''] = source.split(/\r?\n/, 1);
  const bare = line.replace(/"[^"]*"/g, '');
  const counts = [',', ';', '\t'].map((each) => [each, bare.split(each).length] as const);
  return counts.sort((a, b) => b[1] - a[1])[0]?.[0] ?? ',';
}
