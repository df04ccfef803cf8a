// Takes dropped files, and shows the progress of an upload and of an import. Without this module the page with the result comes when all is done.
import { acceptDrops } from './drops.js';
import { showUploading } from './uploads.js';

const attempts = 4;

/** @typedef {{ share: number, created: number, failed: number, problem?: string, canContinue?: boolean }} State */

takeFiles(document);
document.addEventListener('contentchange', ({ target }) => {
  if (target instanceof Element) takeFiles(target);
});

const form = document.querySelector('[data-import]');
if (form instanceof HTMLFormElement) {
  form.addEventListener('submit', (event) => {
    const { submitter } = /** @type {SubmitEvent} */ (event);
    if (!(submitter instanceof HTMLButtonElement) || submitter.value !== 'import') return;
    event.preventDefault();
    const fields = new URLSearchParams(/** @type {[string, string][]} */ ([...new FormData(form)]));
    fields.set('do', 'import');
    void run(form, fields);
  });
}

/** @param {ParentNode} root */
function takeFiles(root) {
  const upload = root.querySelector('[data-drop]');
  if (!(upload instanceof HTMLFormElement)) return;
  const input = upload.querySelector('input[type="file"]');
  acceptDrops(upload, (files) => {
    if (input instanceof HTMLInputElement) input.files = files;
  });
  showUploading(upload);
}

/**
 * Sends the form, again while the connection fails: what was saved is not saved twice. Then shows the result, which has the same address.
 * @param {HTMLFormElement} form
 * @param {URLSearchParams} fields
 */
async function run(form, fields) {
  const view = showRunning(form);
  for (let attempt = 1; ; attempt += 1) {
    const { problem, isTemporary } = await send(form.action, fields, view);
    if (view.isStopped() || !problem) break;
    if (isTemporary && attempt % attempts !== 0)
      await new Promise((resolve) => setTimeout(resolve, 100 * 2 ** (attempt % attempts)));
    else if (await view.askToContinue(problem)) await renewToken(form, fields);
    else break;
  }
  window.removeEventListener('beforeunload', warn);
  location.assign(form.action);
}

/**
 * Returns the problem that ended the import early; an empty one if it has a result.
 * @param {string} address
 * @param {URLSearchParams} body
 * @param {ReturnType<typeof showRunning>} view
 * @returns {Promise<{ problem: string, isTemporary?: boolean }>}
 */
async function send(address, body, view) {
  try {
    const accept = 'application/x-ndjson, application/json';
    const response = await fetch(address, { method: 'POST', body, headers: { accept }, signal: view.signal });
    if (response.ok) return await follow(response, view);
    if (response.status === 401)
      return { problem: 'Your session has ended. Sign in in another tab, then continue.' };
    const answer = await response.json().catch(() => undefined);
    const message = answer?.error?.message ?? `The server responded with ${response.status}.`;
    const isTemporary = response.status === 429 || response.status >= 500;
    return { problem: `${message} (Request ${response.headers.get('x-request-id')})`, isTemporary };
  } catch {
    return { problem: 'The connection was lost.', isTemporary: true };
  }
}

/**
 * @param {Response} response
 * @param {ReturnType<typeof showRunning>} view
 */
async function follow(response, view) {
  // An import that has ended already leads to its result.
  if (response.redirected || !response.body) return { problem: '' };
  /** @type {State | undefined} */
  let last;
  let rest = '';
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    const lines = (rest + part.value).split('\n');
    rest = lines.pop() ?? '';
    last = lines.length > 0 ? JSON.parse(lines.at(-1) ?? '') : last;
    if (last) view.move(last);
  }
  return { problem: last?.canContinue ? (last.problem ?? '') : '', isTemporary: true };
}

/** @param {HTMLFormElement} form */
function showRunning(form) {
  const template = /** @type {HTMLTemplateElement} */ (find(document, '[data-import-running]'));
  const card = /** @type {HTMLElement} */ (
    /** @type {Element} */ (template.content.cloneNode(true)).firstElementChild
  );
  const stop = /** @type {HTMLButtonElement} */ (find(card, '[data-import-stop]'));
  const resume = /** @type {HTMLButtonElement} */ (find(card, '[data-import-continue]'));
  const bar = /** @type {HTMLProgressElement} */ (find(card, 'progress'));
  const gone = new AbortController();
  form.after(card);
  for (const preview of form.parentElement?.children ?? [])
    if (preview instanceof HTMLElement) preview.hidden = preview !== card;
  stop.addEventListener('click', () => gone.abort());
  window.addEventListener('beforeunload', warn);
  return {
    signal: gone.signal,
    isStopped: () => gone.signal.aborted,
    /** @param {State} state */
    move({ share, created, failed }) {
      bar.value = share * 100;
      const bad = failed > 0 ? `, ${failed.toLocaleString('en')} not saved` : '';
      find(card, '[data-progress-detail]').textContent =
        `${Math.floor(share * 100)}%, ${created.toLocaleString('en')} saved${bad}`;
    },
    /**
     * Waits until the visitor continues or the network is back (true), or until the visitor stops (false).
     * @param {string} problem
     * @returns {Promise<boolean>}
     */
    askToContinue(problem) {
      const place = find(card, '[data-import-problem]');
      place.textContent = problem;
      resume.hidden = false;
      return new Promise((resolve) => {
        const settle = () => {
          place.textContent = '';
          resume.hidden = true;
          window.removeEventListener('online', settle);
          resolve(!gone.signal.aborted);
        };
        window.addEventListener('online', settle);
        resume.onclick = settle;
        gone.signal.addEventListener('abort', settle);
      });
    },
  };
}

/**
 * A new sign-in in another tab invalidates the old token.
 * @param {HTMLFormElement} form
 * @param {URLSearchParams} fields
 */
async function renewToken(form, fields) {
  const response = await fetch(form.action, { headers: { accept: 'text/html' } }).catch(() => undefined);
  const page = new DOMParser().parseFromString((await response?.text()) ?? '', 'text/html');
  const token = page.querySelector('[data-import] input[name="_csrf"]');
  if (token instanceof HTMLInputElement) fields.set('_csrf', token.value);
}

/**
 * @param {ParentNode} root
 * @param {string} selector
 */
function find(root, selector) {
  const found = root.querySelector(selector);
  if (!found) throw new Error(`the page has no ${selector}`);
  return found;
}

/** @param {BeforeUnloadEvent} event */
function warn(event) {
  event.preventDefault();
}
