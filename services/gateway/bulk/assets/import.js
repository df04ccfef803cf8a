// Parses the chosen file, sends its rows in batches and shows the progress. Without this module the form sends the file.
import { acceptDrops } from './drops.js';
import { createFailedRows } from './failed-rows.js';
import { watchFile } from './import-preview.js';
import { showOutcome, showRunning } from './import-view.js';
import { createRowParser, FileProblem, formatOf } from './rows.js';

const batchPosts = 250;
const batchCharacters = 400_000;
const errorsShown = 200;
const attempts = 4;

const section = document.querySelector('[data-import]');
const form = section?.querySelector('form');
let token = tokenIn(document);

const input = form?.querySelector('input[type="file"]');
if (form && input instanceof HTMLInputElement) start(form, input);

/**
 * @param {HTMLFormElement} form
 * @param {HTMLInputElement} input
 */
function start(form, input) {
  const columnNames = watchFile(
    input,
    /** @type {Element} */ (document.querySelector('[data-import-preview]')),
  );
  acceptDrops(form, (files) => {
    input.files = files;
    input.dispatchEvent(new Event('change'));
  });
  // The preview asks for the columns instead.
  form.querySelector('[data-import-columns]')?.remove();
  form.addEventListener('submit', (event) => {
    const file = input.files?.[0];
    if (!file) return;
    event.preventDefault();
    void run(file, columnNames());
  });
}

/** @typedef {{ row: number, message: string }} RowError */
/** @typedef {import('./rows.js').ColumnNames} ColumnNames */

/**
 * @param {File} file
 * @param {ColumnNames} columnNames
 */
async function run(file, columnNames) {
  const view = showRunning(file.name);
  document.querySelector('[data-import-preview]')?.replaceChildren();
  const failedRows = createFailedRows();
  /** @type {{ created: number, failed: number, errors: RowError[] }} */
  const sum = { created: 0, failed: 0, errors: [] };
  const importId = crypto.randomUUID?.() ?? `${Date.now()}-${Math.random().toString(36).slice(2)}`;
  let first = 1;
  let problem = '';
  try {
    for await (const { posts, share } of batchesOf(file, columnNames)) {
      if (view.isStopped()) break;
      const saved = await sendUntilSaved({ key: `${importId}-${first}`, first, posts }, view);
      if (!saved) break;
      for (const error of saved.errors) failedRows.add(error, posts[error.row - first]);
      first += posts.length;
      sum.created += saved.created;
      sum.failed += saved.errors.length;
      sum.errors.push(...saved.errors.slice(0, errorsShown - sum.errors.length));
      view.move(share, sum);
    }
    if (view.isStopped()) problem = 'You stopped the import.';
    else if (first === 1) problem = 'The file contains no posts.';
  } catch (error) {
    if (error instanceof FileProblem) problem = error.message;
    else if (error instanceof TypeError) problem = 'The file is not UTF-8 text, or it can no longer be read.';
    else problem = error instanceof Error ? error.message : String(error);
  }
  view.end();
  showOutcome(sum, problem, failedRows);
}

/**
 * The rows of a file in batches, each with the share of the file that has been read.
 * @param {File} file
 * @param {ColumnNames} columnNames
 */
async function* batchesOf(file, columnNames) {
  const parser = createRowParser(formatOf(file.name), columnNames);
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const stream = file.stream().getReader();
  /** @type {unknown[]} */
  let posts = [];
  let characters = 0;
  let bytesBefore = 0;
  let problem;
  for (let isDone = false; !isDone; ) {
    /** @type {unknown[]} */
    let rows = [];
    let bytes = 0;
    try {
      const { done, value } = await stream.read();
      isDone = done;
      bytes = value?.length ?? 0;
      rows = parser.push(decoder.decode(value, { stream: !done }));
      if (done) rows = [...rows, ...parser.end()];
    } catch (error) {
      problem = error;
      isDone = true;
    }
    for (const [index, row] of rows.entries()) {
      posts.push(row);
      characters += JSON.stringify(row).length;
      if (posts.length < batchPosts && characters < batchCharacters) continue;
      yield { posts, share: (bytesBefore + (bytes * (index + 1)) / rows.length) / file.size };
      posts = [];
      characters = 0;
    }
    bytesBefore += bytes;
  }
  if (posts.length > 0) yield { posts, share: 1 };
  if (problem) throw problem;
}

/**
 * Sends a batch again while the connection fails, then asks. Returns nothing if the visitor stops. Because of its key the
 * server saves a batch only once.
 * @param {{ key: string, first: number, posts: unknown[] }} batch
 * @param {ReturnType<typeof showRunning>} view
 * @returns {Promise<{ created: number, errors: RowError[] } | undefined>}
 */
async function sendUntilSaved(batch, view) {
  for (let attempt = 1; ; attempt += 1) {
    const { saved, problem, isTemporary } = await send(batch);
    if (saved) return saved;
    if (view.isStopped()) return undefined;
    if (isTemporary && attempt % attempts !== 0) {
      await new Promise((resolve) => setTimeout(resolve, 100 * 2 ** (attempt % attempts)));
    } else if (await view.askToContinue(problem)) await renewToken();
    else return undefined;
  }
}

/**
 * @param {object} batch
 * @returns {Promise<{ saved?: { created: number, errors: RowError[] }, problem: string, isTemporary?: boolean }>}
 */
async function send(batch) {
  let response;
  try {
    response = await fetch('/posts/import/rows', {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json', 'x-csrf-token': token },
      body: JSON.stringify(batch),
    });
    if (response.ok) return { saved: await response.json(), problem: '' };
  } catch {
    return { problem: 'The connection was lost.', isTemporary: true };
  }
  if (response.status === 401)
    return { problem: 'Your session has ended. Sign in in another tab, then continue.' };
  const isTemporary = response.status === 429 || response.status >= 500;
  const body = await response.json().catch(() => undefined);
  const request = response.headers.get('x-request-id');
  return {
    problem: `${body?.error?.message ?? `The server responded with ${response.status}.`} (Request ${request})`,
    isTemporary,
  };
}

/** @param {Document} page */
function tokenIn(page) {
  const field = page.querySelector('[data-import] input[name="_csrf"]');
  return field instanceof HTMLInputElement ? field.value : '';
}

/** A new sign-in in another tab invalidates the old token. */
async function renewToken() {
  const response = await fetch('/posts/import', { headers: { accept: 'text/html' } }).catch(() => undefined);
  const page = new DOMParser().parseFromString((await response?.text()) ?? '', 'text/html');
  token = tokenIn(page) || token;
}
