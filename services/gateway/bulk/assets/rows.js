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
 * @returns {RowParser}
 */
export function createRowParser(format) {
  return format === 'csv' ? csvParser() : jsonParser();
}

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

/** @returns {RowParser} */
function csvParser() {
  const records = createRecordParser();
  /** @type {string[] | undefined} */
  let columns;
  /** @param {string[][]} found */
  const toRows = (found) => {
    const rows = [];
    for (const record of found) {
      if (columns) rows.push(toRow(columns, record));
      else columns = columnsOf(record);
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

/** @param {string[]} record */
function columnsOf(record) {
  const names = record.map((name) => name.trim().toLowerCase());
  const repeated = names.find((name, index) => name !== '' && names.indexOf(name) < index);
  if (repeated !== undefined) {
    throw new FileProblem(
      `The first line of the file names the column ${columnNames.get(repeated) ?? repeated} twice.`,
    );
  }
  const columns = names.map((name) => columnNames.get(name) ?? '');
  for (const name of ['title', 'body']) {
    if (!columns.includes(name))
      throw new FileProblem(`The first line of the file must name a column ${name}.`);
  }
  return columns;
}

const columnNames = new Map(['userId', 'title', 'body'].map((name) => [name.toLowerCase(), name]));

/**
 * @param {string[]} columns
 * @param {string[]} record
 */
function toRow(columns, record) {
  if (record.length > columns.length) {
    return {
      problem: `has ${record.length} cells, but the first line of the file names ${columns.length} columns`,
    };
  }
  /** @type {Record<string, unknown>} */
  const row = {};
  columns.forEach((name, index) => {
    const cell = record[index];
    if (name === '' || cell === undefined) return;
    if (name !== 'userId') row[name] = cell.replace(formulaGuard, '');
    else if (cell.trim() !== '') row[name] = /^\d{1,16}$/.test(cell.trim()) ? Number(cell) : cell;
  });
  return row;
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
    if (separator === '' && !isLast && !/[\r\n]/.test(rest)) return [];
    separator ||= separatorOf(rest);
    const { records, end } = parseRecords(rest, separator, isLast);
    rest = rest.slice(end);
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
    if (!parser) return [];
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
      return lines.filter((line) => line.trim() !== '').map(parse);
    },
    end: () => (rest.trim() === '' ? [] : [parse(rest)]),
  };
}

/** @param {string} text */
function parse(text) {
  try {
    return /** @type {unknown} */ (JSON.parse(text));
  } catch {
    throw new FileProblem(`The file is not valid JSON near ${JSON.stringify(text.trim().slice(0, 40))}.`);
  }
}
