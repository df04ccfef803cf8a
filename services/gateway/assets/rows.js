// Reads posts out of a CSV or JSON text that arrives in pieces, in a browser and on the server alike.

/**
 * @typedef {object} RowReader
 * @property {(piece: string) => unknown[]} push The rows that are whole by now. Throws a {@link FileProblem}.
 * @property {() => unknown[]} end The rest.
 */

/**
 * `csv` is RFC 4180 with a first line of column names, parted by comma, semicolon or tab. `json` is an array, an object
 * that begins with `"posts": [`, or one object a line.
 * @param {'csv' | 'json'} format
 * @returns {RowReader}
 */
export function createRowReader(format) {
  return format === 'csv' ? csvReader() : jsonReader();
}

/** What keeps a file from being read, in words for its owner. */
export class FileProblem extends Error {}

/**
 * How a file is written, by its name.
 * @param {string} name
 * @returns {'csv' | 'json'}
 */
export function formatOf(name) {
  return /\.(json|jsonl|ndjson)$/i.test(name) ? 'json' : 'csv';
}

/** @returns {RowReader} */
function csvReader() {
  const records = createRecordReader();
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
    push: (piece) => toRows(records.push(piece)),
    end: () => {
      const rows = toRows(records.end());
      if (!columns) throw new FileProblem('The file is empty.');
      return rows;
    },
  };
}

/** @param {string[]} record */
function columnsOf(record) {
  const columns = record.map((name) => known.get(name.trim().toLowerCase()) ?? '');
  for (const name of ['title', 'body']) {
    if (!columns.includes(name))
      throw new FileProblem(`The first line of the file must name a column ${name}.`);
  }
  return columns;
}

const known = new Map(['userId', 'title', 'body'].map((name) => [name.toLowerCase(), name]));

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
    if (name !== 'userId') row[name] = cell;
    else if (cell.trim() !== '') row[name] = /^\d{1,16}$/.test(cell.trim()) ? Number(cell) : cell;
  });
  return row;
}

/** Splits CSV into records of cells; empty lines are none. */
function createRecordReader() {
  let rest = '';
  let separator = '';
  let isFirst = true;
  /**
   * @param {string} piece
   * @param {boolean} isLast
   */
  const read = (piece, isLast) => {
    rest += piece;
    if (isFirst && rest !== '') {
      rest = rest.replace(/^\uFEFF/, '');
      isFirst = false;
    }
    if (separator === '' && !isLast && !/[\r\n]/.test(rest)) return [];
    separator ||= separatorOf(rest);
    const { records, end } = readRecords(rest, separator, isLast);
    rest = rest.slice(end);
    return records;
  };
  return {
    /** @param {string} piece */
    push: (piece) => read(piece, false),
    end: () => read('', true),
  };
}

/** @param {string} text */
function separatorOf(text) {
  return /[,;\t]/.exec(text.split(/[\r\n]/, 1)[0] ?? '')?.[0] ?? ',';
}

/**
 * The whole records at the start of a text and where they end.
 * @param {string} text
 * @param {string} separator
 * @param {boolean} isLast nothing comes after the text
 */
function readRecords(text, separator, isLast) {
  /** @type {string[][]} */
  const records = [];
  /** @type {string[]} */
  let record = [];
  let end = 0;
  let at = 0;
  while (at < text.length) {
    const cell = readCell(text, at, separator);
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
 * One cell and where the next begins, or nothing where the text ends inside its quotes.
 * @param {string} text
 * @param {number} start
 * @param {string} separator
 */
function readCell(text, start, separator) {
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

/** @returns {RowReader} */
function jsonReader() {
  let rest = '';
  /** @type {RowReader | undefined} */
  let reader;
  /** @param {boolean} isLast */
  const start = (isLast) => {
    const array = /^\s*(?:\{\s*"posts"\s*:\s*)?\[/.exec(rest);
    if (array) {
      rest = rest.slice(array[0].length);
      return arrayReader();
    }
    const compact = rest.slice(0, 100).replace(/\s/g, '');
    const canBecomeList = '{"posts":['.startsWith(compact);
    if (compact.startsWith('{') && (isLast || !canBecomeList)) return lineReader();
    if (isLast || /^\s*[^\s{[]/.test(rest)) {
      throw new FileProblem(
        rest.trim() === '' ? 'The file is empty.' : 'The file is not a JSON list of posts.',
      );
    }
    return undefined;
  };
  /** @param {boolean} isLast */
  const read = (isLast) => {
    reader ??= start(isLast);
    if (!reader) return [];
    const rows = reader.push(rest);
    rest = '';
    return isLast ? [...rows, ...reader.end()] : rows;
  };
  return {
    push: (piece) => {
      rest += reader || rest !== '' ? piece : piece.replace(/^\uFEFF/, '');
      return read(false);
    },
    end: () => read(true),
  };
}

/** Elements of an array whose opening bracket is read. @returns {RowReader} */
function arrayReader() {
  let rest = '';
  let at = 0;
  let depth = 0;
  let inText = false;
  let isOver = false;
  return {
    push: (piece) => {
      const rows = [];
      rest += piece;
      let start = 0;
      for (; at < rest.length && !isOver; at += 1) {
        const character = rest[at];
        if (inText) {
          if (character === '\\') at += 1;
          else if (character === '"') inText = false;
        } else if (character === '"') inText = true;
        else if (character === '{' || character === '[') depth += 1;
        else if (depth === 0 && (character === ',' || character === ']')) {
          const element = rest.slice(start, at);
          isOver = character === ']';
          if (!isOver || element.trim() !== '') rows.push(parse(element));
          start = at + 1;
        } else if (character === '}' || character === ']') depth -= 1;
      }
      rest = rest.slice(start);
      at -= start;
      return rows;
    },
    end: () => {
      if (!isOver) throw new FileProblem('The file ends inside its list of posts.');
      return [];
    },
  };
}

/** One JSON value a line. @returns {RowReader} */
function lineReader() {
  let rest = '';
  return {
    push: (piece) => {
      const lines = (rest + piece).split('\n');
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
