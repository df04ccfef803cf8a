// Reads a chosen file here, sends its rows in pieces and shows how far it is. Without this module the form sends the file.
import { showOutcome, showRunning } from './import-view.js';
import { createRowReader, FileProblem, formatOf } from './rows.js';

const piecePosts = 250;
const pieceCharacters = 400_000;
const errorsShown = 200;
const attempts = 4;

const place = document.querySelector('[data-import]');
const form = place?.querySelector('form');
let token = tokenIn(document);

form?.addEventListener('submit', (event) => {
  const input = form.querySelector('input[type="file"]');
  const file = input instanceof HTMLInputElement ? input.files?.[0] : undefined;
  if (!file) return;
  event.preventDefault();
  void run(file);
});

/** @typedef {{ row: number, message: string }} RowError */

/** @param {File} file */
async function run(file) {
  const view = showRunning(file.name);
  /** @type {{ created: number, failed: number, errors: RowError[] }} */
  const sum = { created: 0, failed: 0, errors: [] };
  const importId = crypto.randomUUID?.() ?? `${Date.now()}-${Math.random().toString(36).slice(2)}`;
  let first = 1;
  let problem = '';
  try {
    for await (const { posts, share } of piecesOf(file)) {
      if (view.isStopped()) break;
      const saved = await sendUntilSaved({ key: `${importId}-${first}`, first, posts }, view);
      if (!saved) break;
      first += posts.length;
      sum.created += saved.created;
      sum.failed += saved.errors.length;
      sum.errors.push(...saved.errors.slice(0, errorsShown - sum.errors.length));
      view.move(share, sum);
    }
    if (view.isStopped()) problem = 'You stopped the import.';
    else if (first === 1) problem = 'The file has no posts in it.';
  } catch (error) {
    if (error instanceof FileProblem) problem = error.message;
    else if (error instanceof TypeError)
      problem = 'The file is not text in UTF-8, or it can no longer be read.';
    else problem = error instanceof Error ? error.message : String(error);
  }
  view.end();
  showOutcome(sum, problem);
}

/**
 * The rows of a file in pieces fit to be sent, each with the share of the file that is read by then.
 * @param {File} file
 */
async function* piecesOf(file) {
  const reader = createRowReader(formatOf(file.name));
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
      rows = reader.push(decoder.decode(value, { stream: !done }));
      if (done) rows = [...rows, ...reader.end()];
    } catch (error) {
      problem = error;
      isDone = true;
    }
    for (const [index, row] of rows.entries()) {
      posts.push(row);
      characters += JSON.stringify(row).length;
      if (posts.length < piecePosts && characters < pieceCharacters) continue;
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
 * Sends a piece again while the connection fails, then asks; nothing where the reader gave up. The key makes a second
 * arrival of the same piece harmless.
 * @param {{ key: string, first: number, posts: unknown[] }} piece
 * @param {ReturnType<typeof showRunning>} view
 * @returns {Promise<{ created: number, errors: RowError[] } | undefined>}
 */
async function sendUntilSaved(piece, view) {
  for (let attempt = 1; ; attempt += 1) {
    const { saved, problem, isPassing } = await send(piece);
    if (saved) return saved;
    if (view.isStopped()) return undefined;
    if (isPassing && attempt % attempts !== 0) {
      await new Promise((resolve) => setTimeout(resolve, 100 * 2 ** (attempt % attempts)));
    } else if (await view.askToGoOn(problem)) await renewToken();
    else return undefined;
  }
}

/**
 * @param {object} piece
 * @returns {Promise<{ saved?: { created: number, errors: RowError[] }, problem: string, isPassing?: boolean }>}
 */
async function send(piece) {
  let response;
  try {
    response = await fetch('/posts/import/rows', {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json', 'x-csrf-token': token },
      body: JSON.stringify(piece),
    });
    if (response.ok) return { saved: await response.json(), problem: '' };
  } catch {
    return { problem: 'The connection is lost.', isPassing: true };
  }
  if (response.status === 401)
    return { problem: 'Your session has ended. Sign in in another tab, then go on.' };
  const isPassing = response.status === 429 || response.status >= 500;
  const answer = await response.json().catch(() => undefined);
  const request = response.headers.get('x-request-id');
  return {
    problem: `${answer?.error?.message ?? `The server answered ${response.status}.`} (Request ${request})`,
    isPassing,
  };
}

/** @param {Document} page */
function tokenIn(page) {
  const field = page.querySelector('[data-import] input[name="_csrf"]');
  return field instanceof HTMLInputElement ? field.value : '';
}

/** After a new sign-in in another tab the old token is worth nothing. */
async function renewToken() {
  const response = await fetch('/posts/import', { headers: { accept: 'text/html' } }).catch(() => undefined);
  const page = new DOMParser().parseFromString((await response?.text()) ?? '', 'text/html');
  token = tokenIn(page) || token;
}
