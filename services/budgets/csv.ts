/** One record of RFC 4180. No cell can act as a formula in a spreadsheet; import removes the apostrophe again. */
export function csvRecord(cells: readonly (string | number | null)[]): string {
  return `${cells.map((cell) => (typeof cell === 'string' ? safeCell(cell) : String(cell ?? ''))).join(',')}\r\n`;
}

function safeCell(text: string): string {
  const safe = startsFormula.test(text) && !plainNumber.test(text) ? `'${text}` : text;
  return needsQuotes.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

// With apostrophes before it, too: import removes exactly one.
const startsFormula = /^'*[=+\-@\t\r]/;
const plainNumber = /^[+-]?\d+(\.\d+)?$/;
// A semicolon separates cells where a spreadsheet writes numbers with a comma.
const needsQuotes = /[",;\r\n]/;
