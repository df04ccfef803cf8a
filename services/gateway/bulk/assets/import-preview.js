// Shows the start of the chosen file, and lets people say which of its columns is what.
import { element } from './import-view.js';
import { createRowParser, FileProblem, fieldNames, formatOf, headerOf, problemOfRow } from './rows.js';

/** @typedef {import('./rows.js').ColumnNames} ColumnNames */
/** @typedef {keyof ColumnNames} FieldName */
/** @typedef {{ text: string, isWhole: boolean, format: 'csv' | 'json' }} Start */

const bytesShown = 64 * 1024;
const rowsShown = 5;
const charactersShown = 120;

/** Names that other programs give to the columns. */
const guesses = {
  title: ['title', 'subject', 'headline', 'name'],
  body: ['body', 'text', 'content', 'message', 'description'],
  userId: ['userid', 'user id', 'user_id', 'user'],
};

const labels = { title: 'Title', body: 'Body', userId: 'User number' };

/**
 * Shows a preview whenever a file is chosen. Returns the columns that were chosen for it.
 * @param {HTMLInputElement} input
 * @param {Element} place
 * @returns {() => ColumnNames}
 */
export function watchFile(input, place) {
  /** @type {ColumnNames} */
  let columnNames = {};
  input.addEventListener('change', async () => {
    columnNames = {};
    const file = input.files?.[0];
    place.replaceChildren();
    if (!file) return;
    const start = await readStart(file);
    if (input.files?.[0] !== file) return;
    const header = start.format === 'csv' ? headerOrNothing(start) : [];
    columnNames = guess(header);
    const rows = element('div');
    const show = () => rows.replaceChildren(...rowsOf(start, columnNames));
    const choices = header.length > 0 ? [chooser(header, columnNames, show)] : [];
    const card = element('section', '', 'card stack');
    card.append(element('h2', 'Preview'), ...choices, rows);
    place.append(card);
    show();
  });
  return () => columnNames;
}

/**
 * @param {File} file
 * @returns {Promise<Start>}
 */
async function readStart(file) {
  const isWhole = file.size <= bytesShown;
  // A character that the cut splits is left out.
  const text = new TextDecoder().decode(await file.slice(0, bytesShown).arrayBuffer(), { stream: !isWhole });
  return { text, isWhole, format: formatOf(file.name) };
}

/** @param {Start} start */
function headerOrNothing({ text, isWhole }) {
  try {
    return headerOf(text, isWhole).filter((name) => name !== '');
  } catch {
    return [];
  }
}

/**
 * @param {string[]} header
 * @returns {ColumnNames}
 */
function guess(header) {
  /** @type {ColumnNames} */
  const found = {};
  for (const field of fieldNames) {
    const names = guesses[field];
    const known = header.filter((name) => names.includes(name.toLowerCase()));
    const best = known.toSorted(
      (one, other) => names.indexOf(one.toLowerCase()) - names.indexOf(other.toLowerCase()),
    )[0];
    found[field] = best ?? '';
  }
  return found;
}

/**
 * A choice of columns for each field.
 * @param {string[]} header
 * @param {ColumnNames} columnNames what is chosen; changes with the choice
 * @param {() => void} show
 */
function chooser(header, columnNames, show) {
  const fields = element('div', '', 'fields');
  for (const field of fieldNames) {
    const select = document.createElement('select');
    select.id = `column-${field}`;
    select.add(new Option(field === 'userId' ? 'None (yours)' : 'Choose a column', ''));
    for (const name of header) select.add(new Option(name, name));
    select.value = columnNames[field] ?? '';
    select.addEventListener('change', () => {
      columnNames[field] = select.value;
      show();
    });
    const label = element('label', `${labels[field]} is in`);
    label.setAttribute('for', select.id);
    const box = element('div', '', 'field');
    box.append(label, select);
    fields.append(box);
  }
  return fields;
}

/**
 * The first rows as they will be imported, and what is wrong with the file.
 * @param {Start} start
 * @param {ColumnNames} columnNames
 * @returns {HTMLElement[]}
 */
function rowsOf({ text, isWhole, format }, columnNames) {
  const parser = createRowParser(format, columnNames);
  /** @type {unknown[]} */
  let rows = [];
  try {
    const missing = format === 'csv' && (!columnNames.title || !columnNames.body);
    if (missing) throw new FileProblem('Choose the columns of the title and the body.');
    rows = parser.push(text);
    if (isWhole) rows = [...rows, ...parser.end()];
  } catch (error) {
    if (!(error instanceof FileProblem)) throw error;
    return [...tableOf(rows), problemNotice(error.message)];
  }
  const more = isWhole ? rows.length - rowsShown : Number.POSITIVE_INFINITY;
  const words = more === Number.POSITIVE_INFINITY ? 'more rows follow' : `${more.toLocaleString('en')} more`;
  return [...tableOf(rows), ...(more > 0 ? [element('p', `… and ${words}.`, 'small muted')] : [])];
}

/** @param {unknown[]} rows */
function tableOf(rows) {
  if (rows.length === 0) return [];
  const head = element('tr');
  for (const field of fieldNames) head.append(headerCell(labels[field]));
  const body = element('tbody');
  for (const row of rows.slice(0, rowsShown)) body.append(lineOf(row));
  const thead = element('thead');
  thead.append(head);
  const table = element('table', '', 'table cards');
  table.append(element('caption', 'The first rows of the file', 'hidden'), thead, body);
  return [table];
}

/** @param {string} label */
function headerCell(label) {
  const cell = element('th', label);
  cell.setAttribute('scope', 'col');
  return cell;
}

/** @param {unknown} row */
function lineOf(row) {
  const line = element('tr');
  const problem = problemOfRow(row);
  if (problem !== undefined) {
    const cell = element('td', `This row ${problem}.`, 'muted');
    cell.setAttribute('colspan', String(fieldNames.length));
    line.append(cell);
    return line;
  }
  const post = /** @type {Record<FieldName, unknown>} */ (typeof row === 'object' && row !== null ? row : {});
  for (const field of fieldNames) {
    const cell = element('td', shortened(post[field]));
    if (cell.textContent !== '') cell.dataset.label = labels[field];
    line.append(cell);
  }
  return line;
}

/** @param {unknown} value */
function shortened(value) {
  if (value === undefined) return '';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > charactersShown ? `${text.slice(0, charactersShown)}…` : text;
}

/** @param {string} problem */
function problemNotice(problem) {
  const notice = element('div', '', 'notice warn');
  notice.append(element('div', problem));
  notice.setAttribute('role', 'alert');
  return notice;
}
