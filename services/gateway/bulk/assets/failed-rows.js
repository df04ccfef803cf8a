// Keeps the rows of an import that were not saved, and writes them as a CSV file to mend and import again.

/** @typedef {{ row: number, message: string }} RowError */
/** @typedef {{ title?: unknown, body?: unknown, userId?: unknown, rest?: unknown[], unread?: FailedPost }} FailedPost */

/** How much is kept, so that a file of nothing but invalid rows does not fill the memory. */
const charactersMax = 32 * 1024 * 1024;

const header = ['title', 'body', 'userId', 'row', 'problem'];

/** The rows that were not saved. */
export function createFailedRows() {
  const lines = [header.join(',')];
  let characters = 0;
  let isFull = false;
  return {
    /**
     * @param {RowError} error
     * @param {unknown} row as it was read
     */
    add({ row: number, message }, row) {
      if (isFull) return;
      const line = lineOf(number, message, row);
      characters += line.length;
      isFull = characters > charactersMax;
      if (!isFull) lines.push(line);
    },
    /** How many are in the file. */
    count: () => lines.length - 1,
    /** With a mark at its start, so that spreadsheets read it as UTF-8. */
    text: () => `\uFEFF${lines.join('\r\n')}\r\n`,
  };
}

/**
 * @param {number} number
 * @param {string} message
 * @param {unknown} row
 */
function lineOf(number, message, row) {
  const given = /** @type {FailedPost} */ (typeof row === 'object' && row !== null ? row : {});
  const { title, body, userId, rest = [] } = given.unread ?? given;
  const cells = [title, body, userId].map(guarded);
  return [...cells, String(number), message, ...rest.map(guarded)].map(quoted).join(',');
}

/** @param {unknown} value */
function text(value) {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/**
 * Import removes one apostrophe from such a cell, and spreadsheets do not evaluate it.
 * @param {unknown} value
 */
function guarded(value) {
  const cell = text(value);
  return /^'*[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell;
}

/** @param {string} cell */
function quoted(cell) {
  return /[",;\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
