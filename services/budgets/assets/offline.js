// Lets an expense be typed without a network: it is kept in the browser, with a mark, and sent when there is a network again. Without this
// module, or where browsers have no service worker (neither https nor localhost), a form needs a network as anywhere.
import { drop, keep, listKept } from './outbox.js';

/** @typedef {import('./outbox.js').Kept} Kept */

const { account = '', worker, kept: keptAt } = document.documentElement.dataset;
const canKeep = worker !== undefined && 'serviceWorker' in navigator;
const formAction = '/expenses';
const sendMs = 20_000;
const againMs = 60_000;

if (account) void start();

async function start() {
  if (canKeep) navigator.serviceWorker.register(worker ?? '').catch(() => undefined);
  if (keptAt) sayKept(keptAt);
  document.addEventListener('submit', onSubmit, { capture: true });
  window.addEventListener('online', send);
  window.addEventListener('offline', sayOffline);
  sayOffline();
  setInterval(send, againMs);
  const edited = location.hash.startsWith('#edit-') ? location.hash.slice(6) : undefined;
  const expense = edited && (await listKept(account)).find(({ id }) => id === edited);
  if (expense) await edit(expense);
  await show();
  await send();
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
  if (form.reportValidity()) void keepForm(form);
}

/** @param {HTMLFormElement} form */
async function keepForm(form) {
  const fields = Object.fromEntries(
    [...new FormData(form)].filter(
      ([name, value]) => value !== '' && !['_csrf', 'once', 'back'].includes(name),
    ),
  );
  const id = crypto.randomUUID();
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
  if (form.dataset.edited !== undefined) await drop(form.dataset.edited);
  delete form.dataset.edited;
  form.reset();
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
      if (expense.problem === undefined && !(await sendOne(expense))) break;
    }
  } finally {
    isSending = false;
    await show();
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
  const problem = expense.problem ? `: ${expense.problem}` : '';
  line.append(`${nameOf(expense)}${problem} `);
  // One that was on its way may be there: it is sent again as it is.
  const isOpen = expense.problem !== undefined || !expense.isTried;
  if (isOpen)
    line.append(
      button('Edit', () => edit(expense)),
      ' ',
      button('Remove', () => remove(expense)),
    );
  return line;
}

/**
 * @param {string} text
 * @param {() => Promise<void>} act
 */
function button(text, act) {
  const element = document.createElement('button');
  element.type = 'button';
  element.className = 'quiet small';
  element.textContent = text;
  element.addEventListener('click', () => void act());
  return element;
}

/** @param {Kept} expense */
async function remove(expense) {
  if (isSending || !confirm(`Remove ${nameOf(expense)}? It was not sent.`)) return;
  await drop(expense.id);
  await show();
}

/**
 * Puts an expense back into the form. It stays on the device, and is not sent, until the form is.
 * @param {Kept} expense
 */
async function edit(expense) {
  const form = document.querySelector(`form[method="post"][action="${formAction}"]`);
  if (!(form instanceof HTMLFormElement)) {
    location.assign(`${formAction}/new#edit-${expense.id}`);
    return;
  }
  if (isSending) return;
  for (const [name, value] of Object.entries(expense.fields)) {
    const control = form.elements.namedItem(name);
    if (control && 'value' in control) control.value = value;
  }
  form.dataset.edited = expense.id;
  await keep({ ...expense, problem: expense.problem ?? 'It is not sent, because it was opened to edit it.' });
  await show();
  const first = form.elements.namedItem('description');
  if (first instanceof HTMLElement) first.focus();
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

/**
 * @param {'good' | 'bad'} tone
 * @param {string} text
 */
function say(tone, text) {
  document.querySelector('[data-sent]')?.remove();
  const box = notice(tone, text, '');
  box.setAttribute('data-sent', '');
  putOnTop(box);
}

/**
 * @param {string} tone
 * @param {string} title
 * @param {string} text
 */
function notice(tone, title, text) {
  const box = document.createElement('div');
  box.className = `notice ${tone}`;
  box.setAttribute('role', 'status');
  const inner = document.createElement('div');
  const heading = document.createElement('strong');
  heading.textContent = title;
  inner.append(heading, text);
  box.append(inner);
  return box;
}

/** @param {HTMLElement} box */
function putOnTop(box) {
  const head = document.querySelector('main > .head');
  if (head) head.after(box);
  else document.querySelector('main')?.prepend(box);
}
