// Asks without leaving the page: the answer is written as it comes, and can be stopped. Without this module the form works by itself.
import { acceptDrops } from './drops.js';
import { addTurn } from './live-turn.js';
import { ask, cancel, connect, Refusal } from './transport.js';
import { uploadAll } from './upload.js';

/** @typedef {import('./transport.js').Question} Question */

const chat = document.querySelector('[data-chat]');
const composer = /** @type {HTMLFormElement | null} */ (document.querySelector('[data-composer]'));
/** Key under which the question in progress is stored, in case the page is loaded again. */
const underWay = 'chat question';
/** The server goes on for 5 seconds without a listener. */
const resumeMs = 4_000;

if (chat && composer) start(chat, composer);

/**
 * @param {Element} page
 * @param {HTMLFormElement} form
 */
function start(page, form) {
  const query = /** @type {HTMLTextAreaElement} */ (form.elements.namedItem('query'));
  const strategy = () => String(new FormData(form).get('strategy'));
  query.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    form.requestSubmit();
  });
  query.addEventListener('focus', () => void connect(), { once: true });
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    if (query.value.trim() !== '')
      void answer({ page, form, query }, questionOf(page, query.value, strategy()));
  });
  page.addEventListener('submit', (event) => {
    const again = event.target;
    if (!(again instanceof HTMLFormElement) || !again.hasAttribute('data-again')) return;
    event.preventDefault();
    const fields = new FormData(again);
    const [text, chosen] = [String(fields.get('query')), String(fields.get('strategy'))];
    void answer({ page, form, query }, questionOf(page, text, chosen));
  });
  document.addEventListener('keydown', (event) => openPassage(page, event));
  showStrategy(form);
  acceptDrops(form, (files) => void uploadAll(form, [...files]));
  const left = questionLeft(page.getAttribute('data-chat') ?? '');
  if (left) void answer({ page, form, query }, left);
  else if (document.activeElement === query) void connect();
}

/**
 * The number of a passage of the last answer opens it at its place, unless the person types.
 * @param {Element} page
 * @param {KeyboardEvent} event
 */
function openPassage(page, { key, target, ctrlKey, metaKey, altKey }) {
  const isTyping = target instanceof Element && target.matches('input, textarea, select, [contenteditable]');
  if (isTyping || ctrlKey || metaKey || altKey || !/^[1-9]$/.test(key)) return;
  const last = page.querySelector('.turn:last-child');
  const link = last?.querySelector(`[data-passage="${key}"]`);
  if (link instanceof HTMLElement) link.click();
}

/**
 * @param {{ page: Element, form: HTMLFormElement, query: HTMLTextAreaElement }} parts
 * @param {Question} question
 */
async function answer({ page, form, query }, question) {
  if (form.hasAttribute('data-busy')) return;
  const turns = /** @type {Element} */ (page.querySelector('[data-turns]'));
  const stop = /** @type {HTMLButtonElement} */ (form.querySelector('[data-stop]'));
  const stopping = new AbortController();
  const ending = new AbortController();
  const end = () => {
    if (stopping.signal.aborted) return;
    stopping.abort();
    stop.disabled = true;
    void cancel(question.request_id).catch(() => undefined);
  };
  const turn = addTurn(turns, question.query, {
    announce: say,
    session: (id) => goTo(page, form, id),
  });
  setBusy(form, true);
  if (query.value.trim() === question.query) query.value = '';
  stop.addEventListener('click', end, ending);
  // Before the menus and dialogs see the key, which close on it.
  document.addEventListener(
    'keydown',
    ({ key }) => {
      if (key === 'Escape' && !document.querySelector('dialog[open], .menu[open], :popover-open')) end();
    },
    { capture: true, signal: ending.signal },
  );
  window.addEventListener(
    'pagehide',
    () => {
      if (turn.outlivesPage && !stopping.signal.aborted)
        sessionStorage.setItem(underWay, JSON.stringify({ question, leftMs: Date.now() }));
    },
    ending,
  );
  try {
    const done = await ask(question, turn, stopping.signal);
    turn.end();
    if (done) await show(page, form, done);
    else location.reload();
  } catch (error) {
    turn.fail(...wordsFor(error));
    if (query.value === '') query.value = question.query;
  }
  ending.abort();
  setBusy(form, false);
}

/**
 * @param {HTMLFormElement} form
 * @param {boolean} isBusy
 */
function setBusy(form, isBusy) {
  const stop = /** @type {HTMLButtonElement} */ (form.querySelector('[data-stop]'));
  const send = /** @type {HTMLButtonElement} */ (form.querySelector('[data-ask]'));
  const { activeElement: focused } = document;
  form.toggleAttribute('data-busy', isBusy);
  stop.disabled = false;
  stop.hidden = !isBusy;
  send.hidden = isBusy;
  if (isBusy && focused === send) stop.focus();
  // On a phone, focus would bring up the keyboard over the answer.
  const isLost = focused === null || focused === document.body || focused === stop;
  if (!isBusy && isLost && !matchMedia('(pointer: coarse)').matches) form.querySelector('textarea')?.focus();
}

/**
 * @param {Element} page
 * @param {string} text
 * @param {string} strategy
 * @returns {Question}
 */
function questionOf(page, text, strategy) {
  const session = page.getAttribute('data-chat');
  // Browsers offer randomUUID to pages over HTTPS or on this machine only.
  const bytes = [...crypto.getRandomValues(new Uint8Array(16))];
  const request_id = bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('');
  const filters = filtersOf(document.querySelector('[data-composer] [name=within]'));
  return { query: text.trim(), strategy, request_id, ...(session && { session_id: session }), ...filters };
}

/**
 * The documents that are chosen for the question.
 * @param {Element | null} choice
 * @returns {{ filters?: import('./transport.js').Filters }}
 */
function filtersOf(choice) {
  const value = choice instanceof HTMLSelectElement ? choice.value : '';
  if (value.startsWith('visibility:')) return { filters: { visibility: value.slice(11) } };
  if (value.startsWith('tag:')) return { filters: { tags: [value.slice(4)] } };
  return value.startsWith('document:') ? { filters: { document_ids: [value.slice(9)] } } : {};
}

/**
 * The question of this chat whose answer was being written when the page was left a moment ago. Asked again under its id, it is the same turn.
 * @param {string} session
 * @returns {Question | undefined}
 */
function questionLeft(session) {
  const kept = JSON.parse(sessionStorage.getItem(underWay) ?? 'null');
  if (!kept || (kept.question.session_id ?? '') !== session) return undefined;
  sessionStorage.removeItem(underWay);
  return Date.now() - kept.leftMs < resumeMs ? kept.question : undefined;
}

/**
 * Shows the chat as the server draws it: the answer with its sources, and the name of the chat among the others.
 * @param {Element} page
 * @param {HTMLFormElement} form
 * @param {import('./transport.js').Answer} done
 */
async function show(page, form, done) {
  goTo(page, form, done.session_id);
  say(done.answer.replace(/\s*\[A?\d+\]/g, ''));
  const response = await fetch(location.href, { headers: { accept: 'text/html' } }).catch(() => undefined);
  if (!response?.ok) return;
  const fresh = new DOMParser().parseFromString(await response.text(), 'text/html');
  const turns = /** @type {Element} */ (page.querySelector('[data-turns]'));
  // Turns that are there stay as people see them, with what they have opened.
  for (const drawn of fresh.querySelectorAll('[data-turns] > .turn')) {
    if (document.getElementById(drawn.id)) continue;
    const live = turns.querySelector('.turn.live:not([id])');
    drawn.classList.add('live');
    if (live) live.replaceWith(drawn);
    else turns.append(drawn);
    drawn.dispatchEvent(new CustomEvent('contentchange', { bubbles: true }));
  }
  turns.querySelector('.turn.live:not([id])')?.remove();
  for (const selector of ['.head', 'nav[aria-label="Main"]']) {
    const [old, drawn] = [document.querySelector(selector), fresh.querySelector(selector)];
    if (old && drawn) old.replaceWith(drawn);
  }
  document.title = fresh.title;
}

/**
 * @param {Element} page
 * @param {HTMLFormElement} form
 * @param {string} session
 */
function goTo(page, form, session) {
  if (page.getAttribute('data-chat') === session) return;
  history.replaceState(null, '', `/chats/${session}`);
  page.setAttribute('data-chat', session);
  form.querySelector('[name=session]')?.setAttribute('value', session);
}

/**
 * @param {unknown} error
 * @returns {(string | Node)[]}
 */
function wordsFor(error) {
  if (!(error instanceof Refusal))
    return [
      'The connection was lost before the answer was complete. Your question is below; send it when you are online again.',
    ];
  if (error.code !== 'unauthorized') return [error.message];
  const link = document.createElement('a');
  link.href = '/sign-in';
  link.textContent = 'Sign in again';
  return ['Your sign-in has ended. ', link, '.'];
}

/**
 * The button of the menu says which strategy is chosen.
 * @param {HTMLFormElement} form
 */
function showStrategy(form) {
  const menu = form.querySelector('[data-strategy]');
  menu?.addEventListener('change', ({ target }) => {
    const name = target instanceof HTMLInputElement ? target.dataset.name : undefined;
    const shown = menu.querySelector('[data-chosen]');
    if (shown && name) shown.textContent = name;
  });
  menu?.addEventListener('click', (event) => {
    // A click by a pointer chooses; those by arrow keys have no place.
    const isPointed = event instanceof MouseEvent && event.clientX + event.clientY > 0;
    if (event.target instanceof HTMLInputElement && isPointed) menu.removeAttribute('open');
  });
}

/** @param {string} text */
function say(text) {
  const state = document.querySelector('[data-state]');
  if (state && state.textContent !== text) state.textContent = text;
}
