// Shows below each amount how the server understands it while it is typed: `12+3` is $15.00. The server has the rule; without this module
// the message after saving tells the same.
import { isAmount } from './typed-amount.js';

const waitMs = 300;
/** @type {WeakMap<HTMLInputElement, { timer?: ReturnType<typeof setTimeout>, asking?: AbortController }>} */
const pending = new WeakMap();
let shown = 0;

document.addEventListener('input', ({ target }) => {
  if (target instanceof HTMLInputElement && target.dataset.amount) readSoon(target);
});
// Another budget or currency may mean another amount.
document.addEventListener('change', ({ target }) => {
  if (!(target instanceof HTMLSelectElement) || !['currency', 'budgetId'].includes(target.name)) return;
  for (const input of target.form?.querySelectorAll('[data-amount]') ?? [])
    if (input instanceof HTMLInputElement && input.value.trim() !== '') readSoon(input);
});

/** @param {HTMLInputElement} input */
function readSoon(input) {
  const state = pending.get(input) ?? {};
  pending.set(input, state);
  clearTimeout(state.timer);
  state.asking?.abort();
  if (input.value.trim() === '') return show(input, '');
  state.timer = setTimeout(() => {
    state.asking = new AbortController();
    void read(input, state.asking.signal);
  }, waitMs);
}

/**
 * @param {HTMLInputElement} input
 * @param {AbortSignal} signal
 */
async function read(input, signal) {
  const query = new URLSearchParams({ amount: input.value });
  for (const name of ['currency', 'budgetId']) {
    const control = input.form?.elements.namedItem(name);
    if (control instanceof HTMLInputElement || control instanceof HTMLSelectElement)
      query.set(name, control.value);
  }
  try {
    const response = await fetch(`${input.dataset.amount}?${query}`, { signal });
    const { text, problem } = response.ok ? await response.json() : {};
    show(input, text ?? problem ?? '');
  } catch {
    // Without a connection, only the problem is known.
    if (!signal.aborted) show(input, isAmount(input.value) ? '' : (input.dataset.amountProblem ?? ''));
  }
}

/**
 * @param {HTMLInputElement} input
 * @param {string} text
 */
function show(input, text) {
  const known = input.nextElementSibling;
  if (known instanceof HTMLOutputElement) {
    known.value = text;
    return;
  }
  if (text === '') return;
  const output = document.createElement('output');
  output.id = `reading-${++shown}`;
  output.className = 'help small muted';
  output.value = text;
  input.after(output);
  input.setAttribute(
    'aria-describedby',
    `${input.getAttribute('aria-describedby') ?? ''} ${output.id}`.trim(),
  );
}
