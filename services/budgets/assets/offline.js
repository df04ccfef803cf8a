// Lets an expense be typed without a network: it is kept in the browser, with a mark, and sent when there is a network again. Without this
// module, or where browsers have no service worker (neither https nor localhost), a form needs a network as anywhere.
import { button, notice, putOnTop, say } from './notices.js';
import { drop, keep, listKept } from './outbox.js';
import { isAmount } from './typed-amount.js';

/** @typedef {import('./outbox.js').Kept} Kept */

const { account = '', worker, kept: keptAt } = document.documentElement.dataset;
const canKeep = worker !== undefined && 'serviceWorker' in navigator && 'locks' in navigator;
const formAction = '/expenses';
const sendMs = 20_000;
const againMs = 15_000;
const lockMs = 2_000;

if (account) void start();

async function start() {
  if (canKeep) navigator.serviceWorker.register(worker ?? '').catch(() => undefined);
  if (keptAt) sayKept(keptAt);
  document.addEventListener('submit', onSubmit, { capture: true });
  document.addEventListener('input', () => {
    isTyped = true;
  });
  window.addEventListener('online', onOnline);
  window.addEventListener('offline', sayOffline);
  sayOffline();
  setInterval(onOnline, againMs);
  const edited = location.hash.startsWith('#edit-') ? location.hash.slice(6) : undefined;
  const expense = edited && (await listKept(account)).find(({ id }) => id === edited);
  if (expense) await edit(expense);
  await show();
  await send();
}

let isTyped = false;

async function onOnline() {
  if (!(await loadAgain())) await send();
}

/** Loads a page that was kept again, which also sends what waits, if the server is there and nothing was typed. */
async function loadAgain() {
  const isIdle = () => keptAt !== undefined && !isTyped && !opened;
  if (!isIdle() || !navigator.onLine) return false;
  const response = await fetch(location.href, { headers: { accept: 'text/html' } }).catch(() => undefined);
  const isFresh = (response?.ok || response?.status === 401) && isIdle();
  if (isFresh) location.reload();
  return isFresh === true;
}

/** @param {SubmitEvent} event */
function onSubmit(event) {
  const form = event.target;
  if (!(form instanceof HTMLFormElement)) return;
  if (form.dataset.signOut !== undefined && navigator.onLine) {
    event.preventDefault();
    event.stopImmediatePropagation();
    void signOut(form);
    return;
  }
  const isSentAsUsual = navigator.onLine && !keptAt && form.dataset.edited === undefined;
  if (!canKeep || isSentAsUsual || form.getAttribute('action') !== formAction) return;
  event.preventDefault();
  checkAmount(form);
  if (form.reportValidity() && !keeping.has(form)) void keepForm(form).finally(() => keeping.delete(form));
}

/**
 * Forms whose expense is on its way to the disk: a second tap is not a second expense.
 * @type {Set<HTMLFormElement>}
 */
const keeping = new Set();

/** @param {HTMLFormElement} form */
function checkAmount(form) {
  const input = form.elements.namedItem('amount');
  if (!(input instanceof HTMLInputElement)) return;
  input.setCustomValidity(isAmount(input.value) ? '' : (input.dataset.amountProblem ?? ''));
  input.addEventListener('input', () => input.setCustomValidity(''), { once: true });
}

/** @param {HTMLFormElement} form */
async function keepForm(form) {
  keeping.add(form);
  const fields = Object.fromEntries(
    [...new FormData(form)].filter(
      ([name, value]) => value !== '' && !['_csrf', 'once', 'back'].includes(name),
    ),
  );
  const id = form.dataset.edited ?? crypto.randomUUID();
  const kept = {
    id,
    account,
    fields: /** @type {Record<string, string>} */ (fields),
    keptAt: new Date().toISOString(),
  };
  try {
    await keep(kept);
  } catch {
    say('bad', 'This browser could not keep the expense. What you typed is still in the form.');
    return;
  }
  delete form.dataset.edited;
  closeOpened();
  form.reset();
  isTyped = false;
  await show();
  document.querySelector('[data-outbox]')?.scrollIntoView({ block: 'center' });
  const first = form.elements.namedItem('description');
  if (first instanceof HTMLElement) first.focus({ preventScroll: true });
  void navigator.storage?.persist?.();
  await send();
}

let isSending = false;

/** Sends what is kept, one after another. The server adds each once, however often it is sent. */
async function send() {
  if (!navigator.onLine || isSending) return;
  isSending = true;
  try {
    for (const expense of await listKept(account)) {
      if (expense.problem !== undefined || expense.id === opened?.id) continue;
      const canGoOn = await alone(expense.id, (stored) => sendOne(stored));
      if (canGoOn === false) break;
    }
  } finally {
    isSending = false;
    await show();
  }
}

/**
 * Does something with an expense as it is kept now, unless a page has it in its form or sends it: undefined then.
 * @template T
 * @param {string} id
 * @param {(stored: Kept) => Promise<T>} work
 * @returns {Promise<T | undefined>}
 */
async function alone(id, work) {
  const waiting = new AbortController();
  // The page before this one may still be on its way out.
  const timer = setTimeout(() => waiting.abort(), lockMs);
  try {
    return await navigator.locks.request(`budgets expense ${id}`, { signal: waiting.signal }, async () => {
      clearTimeout(timer);
      const stored = (await listKept(account)).find((each) => each.id === id);
      return stored ? work(stored) : undefined;
    });
  } catch (error) {
    if (waiting.signal.aborted) return undefined;
    throw error;
  }
}

/**
 * Returns false if it makes no sense to go on now.
 * @param {Kept} expense
 */
async function sendOne(expense) {
  await keep({ ...expense, isTried: true });
  const response = (await post(expense, csrfToken(document))) ?? (await postAnew(expense));
  if (!response || response.status === 403 || response.status === 429 || response.status >= 500) return false;
  if (response.status === 401) {
    await clearPages();
    return false;
  }
  if (response.ok) {
    await drop(expense.id);
    say('good', `${nameOf(expense)} was sent.`);
  } else {
    const { error } = await response.json().catch(() => ({}));
    await keep({
      ...expense,
      isTried: true,
      problem: error?.message ?? `The server answered with ${response.status}.`,
    });
  }
  return true;
}

/**
 * The answer; undefined without one, and if the token of the form is of another session.
 * @param {Kept} expense
 * @param {string} token
 */
async function post({ id, fields }, token) {
  try {
    const response = await fetch(`${formAction}/offline`, {
      method: 'POST',
      headers: { accept: 'application/json', 'content-type': 'application/json', 'x-csrf-token': token },
      body: JSON.stringify({ id, account, fields }),
      signal: AbortSignal.timeout(sendMs),
    });
    return response.status === 403 ? undefined : response;
  } catch {
    return undefined;
  }
}

/**
 * With a token of now: a page that was kept has one of then.
 * @param {Kept} expense
 */
async function postAnew(expense) {
  try {
    const page = await fetch(`${formAction}/new`, { headers: { accept: 'text/html' } });
    if (!page.ok) return page;
    const now = new DOMParser().parseFromString(await page.text(), 'text/html');
    return await post(expense, csrfToken(now));
  } catch {
    return undefined;
  }
}

/** @param {Document} page */
function csrfToken(page) {
  return page.querySelector('input[name="_csrf"]')?.getAttribute('value') ?? '';
}

/** Shows what is kept, above the page. */
async function show() {
  const expenses = await listKept(account);
  document.querySelector('[data-outbox]')?.remove();
  if (expenses.length === 0) return;
  const one = expenses.length === 1;
  const box = notice(
    'warn',
    one ? '1 expense is on this device only' : `${expenses.length} expenses are on this device only`,
    navigator.onLine ? 'Not sent yet.' : `${one ? 'It is' : 'They are'} sent when you are online again.`,
  );
  box.setAttribute('data-outbox', '');
  const list = document.createElement('ul');
  list.append(...expenses.map(lineOf));
  box.firstElementChild?.append(list);
  putOnTop(box);
}

/** @param {Kept} expense */
function lineOf(expense) {
  const line = document.createElement('li');
  if (expense.id === opened?.id) {
    line.append(`${nameOf(expense)}: in the form below`);
    return line;
  }
  const problem = expense.problem ? `: ${expense.problem}` : '';
  line.append(`${nameOf(expense)}${problem} `);
  // One that was on its way may be there: it is sent again as it is.
  if (isChangeable(expense))
    line.append(
      button('Edit', () => edit(expense)),
      ' ',
      button('Remove', () => remove(expense)),
    );
  return line;
}

/** @param {Kept} expense */
function isChangeable({ problem, isTried }) {
  return problem !== undefined || !isTried;
}

/** @param {Kept} expense */
async function remove(expense) {
  if (!confirm(`Remove ${nameOf(expense)}? It was not sent.`)) return;
  const removed = await alone(expense.id, async (stored) => {
    if (isChangeable(stored)) await drop(stored.id);
    return true;
  });
  if (!removed) sayBusy(expense);
  await show();
}

/**
 * The expense in the form of this page. It is not sent while the page is open, by no page, and is sent as it was once the page is left.
 * @type {{ id: string, close: () => void } | undefined}
 */
let opened;

function closeOpened() {
  opened?.close();
  opened = undefined;
}

/**
 * Puts an expense back into the form, which replaces it.
 * @param {Kept} expense
 */
async function edit(expense) {
  const form = document.querySelector(`form[method="post"][action="${formAction}"]`);
  if (!(form instanceof HTMLFormElement)) {
    location.assign(`${formAction}/new#edit-${expense.id}`);
    return;
  }
  closeOpened();
  const isOpen = await new Promise((resolve) => {
    void alone(expense.id, (stored) => {
      if (!isChangeable(stored)) return Promise.resolve();
      return new Promise((close) => {
        fill(form, stored);
        opened = { id: stored.id, close: () => close(undefined) };
        resolve(true);
      });
    }).then(() => resolve(false));
  });
  if (!isOpen) sayBusy(expense);
  await show();
  const first = form.elements.namedItem('description');
  if (isOpen && first instanceof HTMLElement) first.focus();
}

/**
 * @param {HTMLFormElement} form
 * @param {Kept} expense
 */
function fill(form, { id, fields }) {
  for (const [name, value] of Object.entries(fields)) {
    const control = form.elements.namedItem(name);
    if (control && 'value' in control) control.value = value;
  }
  form.dataset.edited = id;
}

/** @param {Kept} expense */
function sayBusy(expense) {
  say('bad', `${nameOf(expense)} is being sent, or is open in another tab.`);
}

/** @param {Kept} expense */
function nameOf({ fields }) {
  return `${fields.description ?? 'An expense'}, ${fields.amount ?? ''}`;
}

/**
 * Deletes what this browser keeps of the account, after asking about expenses that are not sent.
 * @param {HTMLFormElement} form
 */
async function signOut(form) {
  const expenses = await listKept(account);
  const names = expenses.map(nameOf).join('\n');
  if (
    expenses.length > 0 &&
    !confirm(`These expenses are not sent yet. Sign out and delete them?\n\n${names}`)
  )
    return;
  for (const { id } of expenses) await drop(id);
  await clearPages();
  sessionStorage.clear();
  form.submit();
}

/** Deletes the pages that the worker keeps, also those that are on their way to it. */
async function clearPages() {
  const active = canKeep ? (await navigator.serviceWorker.getRegistration())?.active : undefined;
  if (!active) return;
  const { port1, port2 } = new MessageChannel();
  const cleared = new Promise((resolve) => {
    port1.onmessage = resolve;
    setTimeout(resolve, 2_000);
  });
  active.postMessage('clear', [port2]);
  await cleared;
}

/** Says where expenses can be added that those are kept, which the message of all pages does not. */
function sayOffline() {
  const banner =
    canKeep &&
    document.querySelector(`form[method="post"][action="${formAction}"]`) &&
    document.querySelector('.offline');
  if (banner)
    banner.textContent = 'You are offline. Expenses that you add are kept on this device and sent later.';
}

/** @param {string} at */
function sayKept(at) {
  // A form of a page that was kept may have been sent before.
  for (const once of document.querySelectorAll('input[name="once"]'))
    once.setAttribute('value', crypto.randomUUID());
  const time = new Date(at).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' });
  const text = 'Expenses that you add are kept on this device, and sent later.';
  const box = notice('info', `This page is from ${time}`, text);
  const again = document.createElement('a');
  again.href = location.href;
  again.textContent = 'Load it again';
  box.firstElementChild?.append(' ', again);
  putOnTop(box);
}
