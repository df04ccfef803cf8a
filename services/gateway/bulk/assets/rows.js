// Parses posts from CSV or JSON text that arrives in chunks. It runs in the browser and on the server.

/**
 * @typedef {object} RowParser
 * @property {(chunk: string) => unknown[]} push The rows that are complete so far. Throws a {@link FileProblem}.
 * @property {() => unknown[]} end The remaining rows.
 */

/**
 * `csv` is RFC 4180 with a first line of column names, separated by commas, semicolons or tabs. A record with too many cells
 * becomes a row that {@link problemOfRow} explains. `json` is an array, an object that begins with `"posts": [`, or one object
 * per line.
 * @param {'csv' | 'json'} format
 * @param {ColumnNames} [columnNames] of CSV
 * @returns {RowParser}
 */
export function createRowParser(format, columnNames = {}) {
  return format === 'csv' ? csvParser(columnNames) : jsonParser();
}

/**
 * The column of a CSV file that each field of a post is in; by default the one of the same name. Without a column for `userId`, it is
 * left out.
 * @typedef {{ title?: string, body?: string, userId?: string }} ColumnNames
 */

/** @type {readonly (keyof ColumnNames)[]} */
export const fieldNames = ['title', 'body', 'userId'];

/**
 * The names in the first line of a CSV file, from the start of its text.
 * @param {string} text
 * @param {boolean} isWhole nothing comes after the text
 */
export function headerOf(text, isWhole) {
  const records = createRecordParser();
  const [header] = [...records.push(text), ...(isWhole ? records.end() : [])];
  return header?.map((name) => name.trim()) ?? [];
}

/**
 * How long one row of a file may be. A valid one with every character escaped needs 130,000. An unfinished row is kept, and parts of
 * it are read again with each chunk.
 */
const rowCharactersMax = 300_000;

/** Why a file cannot be imported, in words for its owner. */
export class FileProblem extends Error {}

/**
 * What is wrong with a row that could not be read; undefined for any other row. No valid row looks like one.
 * @param {unknown} row
 * @returns {string | undefined}
 */
export function problemOfRow(row) {
  if (typeof row !== 'object' || row === null || Object.keys(row).length !== 1) return undefined;
  const { problem } = /** @type {{ problem?: unknown }} */ (row);
  return typeof problem === 'string' ? problem : undefined;
}

/**
 * How a file is written, by its name.
 * @param {string} name
 * @returns {'csv' | 'json'}
 */
export function formatOf(name) {
  return /\.(json|jsonl|ndjson)$/i.test(name) ? 'json' : 'csv';
}

/**
 * @param {ColumnNames} columnNames
 * @returns {RowParser}
 */
function csvParser(columnNames) {
  const records = createRecordParser();
  /** @type {string[] | undefined} */
  let columns;
  /** @param {string[][]} found */
  const toRows = (found) => {
    const rows = [];
    for (const record of found) {
      if (columns) rows.push(toRow(columns, record));
      else columns = columnsOf(record, columnNames);
    }
    return rows;
  };
  return {
    push: (chunk) => toRows(records.push(chunk)),
    end: () => {
      const rows = toRows(records.end());
      if (!columns) throw new FileProblem('The file is empty.');
      return rows;
    },
  };
}

/**
 * The field that each column of a file is for, or an empty text.
 * @param {string[]} record
 * @param {ColumnNames} columnNames
 */
function columnsOf(record, columnNames) {
  const names = record.map(normalize);
  const repeated = names.findIndex((name, index) => name !== '' && names.indexOf(name, index + 1) !== -1);
  if (repeated !== -1) {
    throw new FileProblem(`The first line of the file names the column ${record[repeated]?.trim()} twice.`);
  }
  /** @type {string[]} */
  const columns = names.map(() => '');
  for (const field of fieldNames) {
    const wanted = columnNames[field] ?? field;
    const isOptional = field === 'userId' && ['', 'userid'].includes(normalize(wanted));
    const index = wanted === '' ? -1 : names.indexOf(normalize(wanted));
    if (index === -1 && isOptional) continue;
    if (index === -1)
      throw new FileProblem(`The first line of the file must name a column ${wanted || field}.`);
    if (columns[index]) throw new FileProblem(`The column ${wanted} is chosen for two fields.`);
    columns[index] = field;
  }
  return columns;
}

/** @param {string} name */
function normalize(name) {
  return name.trim().toLowerCase();
}

/**
 * @param {string[]} columns
 * @param {string[]} record
 */
function toRow(columns, record) {
  /** @type {Record<string, unknown>} */
  const row = {};
  columns.forEach((name, index) => {
    const cell = record[index];
    if (name === '' || cell === undefined) return;
    if (name !== 'userId') row[name] = cell.replace(formulaGuard, '');
    else if (cell.trim() !== '') row[name] = /^\d{1,16}$/.test(cell.trim()) ? Number(cell) : cell;
  });
  if (record.length <= columns.length) return row;
  const problem = `has ${record.length} cells, but the first line of the file names ${columns.length} columns`;
  // Not enumerable, so that it is not sent.
  return Object.defineProperty({ problem }, 'unread', {
    value: { ...row, rest: record.slice(columns.length) },
  });
}

// The apostrophe that an export puts before text that a spreadsheet would evaluate.
const formulaGuard = /^'(?='*[=+\-@\t\r])/;

/** Splits CSV into records of cells and skips empty lines. */
function createRecordParser() {
  let rest = '';
  let separator = '';
  let isFirst = true;
  /**
   * @param {string} chunk
   * @param {boolean} isLast
   */
  const parseChunk = (chunk, isLast) => {
    rest += chunk;
    if (isFirst && rest !== '') {
      rest = rest.replace(/^\uFEFF/, '');
      isFirst = false;
    }
    if (separator === '' && !isLast && !/[\r\n]/.test(rest)) {
      checkLength(rest.length);
      return [];
    }
    separator ||= separatorOf(rest);
    const { records, end } = parseRecords(rest, separator, isLast);
    rest = rest.slice(end);
    checkLength(rest.length);
    return records;
  };
  return {
    /** @param {string} chunk */
    push: (chunk) => parseChunk(chunk, false),
    end: () => parseChunk('', true),
  };
}

/** @param {string} text */
function separatorOf(text) {
  return /[,;\t]/.exec(text.split(/[\r\n]/, 1)[0] ?? '')?.[0] ?? ',';
}

/**
 * The complete records at the start of a text, and where they end.
 * @param {string} text
 * @param {string} separator
 * @param {boolean} isLast nothing comes after the text
 */
function parseRecords(text, separator, isLast) {
  /** @type {string[][]} */
  const records = [];
  /** @type {string[]} */
  let record = [];
  let end = 0;
  let at = 0;
  while (at < text.length) {
    const cell = parseCell(text, at, separator);
    if (!cell || (cell.next >= text.length && !isLast)) break;
    record.push(cell.value);
    at = cell.next;
    if (cell.endsRecord || at >= text.length) {
      checkLength(at - end);
      const wantsMore = !cell.endsRecord && text.endsWith(separator);
      if (wantsMore) record.push('');
      if (record.length > 1 || record[0] !== '') records.push(record);
      record = [];
      end = at;
    }
  }
  if (isLast && end < text.length) throw new FileProblem('The file ends inside a quoted cell.');
  return { records, end };
}

/**
 * One cell and where the next begins, or nothing if the text ends inside its quotes.
 * @param {string} text
 * @param {number} start
 * @param {string} separator
 */
function parseCell(text, start, separator) {
  let at = start;
  let value = '';
  while (text[at] === '"') {
    const close = text.indexOf('"', at + 1);
    if (close === -1) return undefined;
    value += text.slice(at + 1, close);
    at = close + 1;
    if (text[at] === '"') value += '"';
  }
  const plain = at;
  while (at < text.length && text[at] !== separator && text[at] !== '\n' && text[at] !== '\r') at += 1;
  value += text.slice(plain, at);
  const endsRecord = text[at] === '\n' || text[at] === '\r';
  const next = text[at] === '\r' && text[at + 1] === '\n' ? at + 2 : at + 1;
  return { value, next, endsRecord };
}

/** @returns {RowParser} */
function jsonParser() {
  let rest = '';
  /** @type {RowParser | undefined} */
  let parser;
  /** @param {boolean} isLast */
  const start = (isLast) => {
    const array = /^\s*(?:\{\s*"posts"\s*:\s*)?\[/.exec(rest);
    if (array) {
      rest = rest.slice(array[0].length);
      return arrayParser();
    }
    const compact = rest.slice(0, 100).replace(/\s/g, '');
    const canBecomeList = '{"posts":['.startsWith(compact);
    if (compact.startsWith('{') && (isLast || !canBecomeList)) return lineParser();
    if (isLast || /^\s*[^\s{[]/.test(rest)) {
      throw new FileProblem(
        rest.trim() === '' ? 'The file is empty.' : 'The file is not a JSON list of posts.',
      );
    }
    return undefined;
  };
  /** @param {boolean} isLast */
  const parseRest = (isLast) => {
    parser ??= start(isLast);
    if (!parser) {
      checkLength(rest.length);
      return [];
    }
    const rows = parser.push(rest);
    rest = '';
    return isLast ? [...rows, ...parser.end()] : rows;
  };
  return {
    push: (chunk) => {
      rest += parser || rest !== '' ? chunk : chunk.replace(/^\uFEFF/, '');
      return parseRest(false);
    },
    end: () => parseRest(true),
  };
}

/** The elements of an array after its opening bracket. @returns {RowParser} */
function arrayParser() {
  let rest = '';
  let at = 0;
  let depth = 0;
  let inText = false;
  let hasEnded = false;
  return {
    push: (chunk) => {
      const rows = [];
      rest += chunk;
      let start = 0;
      for (; at < rest.length && !hasEnded; at += 1) {
        const character = rest[at];
        if (inText) {
          if (character === '\\') at += 1;
          else if (character === '"') inText = false;
        } else if (character === '"') inText = true;
        else if (character === '{' || character === '[') depth += 1;
        else if (depth === 0 && (character === ',' || character === ']')) {
          const element = rest.slice(start, at);
          hasEnded = character === ']';
          if (!hasEnded || element.trim() !== '') rows.push(parse(element));
          start = at + 1;
        } else if (character === '}' || character === ']') depth -= 1;
      }
      rest = rest.slice(start);
      checkLength(rest.length);
      at -= start;
      return rows;
    },
    end: () => {
      if (!hasEnded) throw new FileProblem('The file ends inside its list of posts.');
      return [];
    },
  };
}

/** One JSON value per line. @returns {RowParser} */
function lineParser() {
  let rest = '';
  return {
    push: (chunk) => {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() ?? '';
      checkLength(rest.length);
      return lines.filter((line) => line.trim() !== '').map(parse);
    },
    end: () => (rest.trim() === '' ? [] : [parse(rest)]),
  };
}

/** @param {number} length */
function checkLength(length) {
  if (length <= rowCharactersMax) return;
  const most = rowCharactersMax.toLocaleString('en');
  throw new FileProblem(`The file has a row of more than ${most} characters.`);
}

/** @param {string} text */
function parse(text) {
  checkLength(text.length);
  try {
    return /** @type {unknown} */ (JSON.parse(text));
  } catch {
    throw new FileProblem(`The file is not valid JSON near ${JSON.stringify(text.trim().slice(0, 40))}.`);
  }
}
