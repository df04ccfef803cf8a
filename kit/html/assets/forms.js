// Helps with forms: focuses the first invalid field, counts characters while you type, shows passwords, prevents sending a form twice, and keeps
// what you typed across a reload, a lost connection or an expired session (in this tab only).
const firstBad = document.querySelector('[aria-invalid="true"]');
if (firstBad instanceof HTMLElement) firstBad.focus();

for (const input of document.querySelectorAll('[data-count-max]')) {
  if (input instanceof HTMLInputElement || input instanceof HTMLTextAreaElement) countCharacters(input);
}
for (const form of document.querySelectorAll('form[method="post"]')) {
  if (form instanceof HTMLFormElement) sendOnce(form);
}
for (const form of document.querySelectorAll('form[data-draft]')) {
  if (form instanceof HTMLFormElement) keepDraft(form);
}
for (const form of document.querySelectorAll('form[data-sign-out]')) {
  form.addEventListener('submit', () => sessionStorage.clear());
}
for (const button of document.querySelectorAll('[data-reveal]')) {
  if (button instanceof HTMLButtonElement) revealWith(button);
}
dropSentDraft();

/** @param {HTMLInputElement | HTMLTextAreaElement} input */
function countCharacters(input) {
  const max = Number(input.dataset.countMax);
  const output = document.querySelector(`[data-count="${input.name}"]`);
  const update = () => {
    const count = [...input.value].length;
    const over = count > max ? `, ${count - max} too many` : '';
    if (output) output.textContent = `${count.toLocaleString('en')} of ${max.toLocaleString('en')}${over}`;
  };
  input.addEventListener('input', update);
  update();
}

/**
 * Lets people check a password that they typed. It is hidden again before it is sent, so that browsers do not keep it as text.
 * @param {HTMLButtonElement} button
 */
function revealWith(button) {
  const input = button.previousElementSibling;
  const word = button.firstElementChild;
  if (!(input instanceof HTMLInputElement) || !word) return;
  const show = (/** @type {boolean} */ isShown) => {
    input.type = isShown ? 'text' : 'password';
    word.textContent = isShown ? 'Hide' : 'Show';
  };
  button.hidden = false;
  button.addEventListener('click', () => show(input.type === 'password'));
  input.form?.addEventListener('submit', () => show(false));
}

/** @param {HTMLFormElement} form */
function sendOnce(form) {
  let isSent = false;
  form.addEventListener('submit', (event) => {
    if (isSent) event.preventDefault();
    else if (navigator.onLine) isSent = true;
  });
  form.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) form.requestSubmit();
  });
  window.addEventListener('pageshow', () => {
    isSent = false;
  });
}

/** @param {HTMLFormElement} form */
function keepDraft(form) {
  const key = `draft ${form.dataset.draft}`;
  const fields = [...form.elements].filter(
    (element) =>
      (element instanceof HTMLInputElement && element.type === 'text') ||
      element instanceof HTMLTextAreaElement,
  );
  const texts = /** @type {(HTMLInputElement | HTMLTextAreaElement)[]} */ (fields);
  const kept = sessionStorage.getItem(key);
  if (kept && !form.querySelector('[aria-invalid="true"]') && restore(texts, JSON.parse(kept)))
    sayRestored(form, key);
  form.addEventListener('input', () => {
    sessionStorage.setItem(
      key,
      JSON.stringify(Object.fromEntries(texts.map((text) => [text.name, text.value]))),
    );
  });
  form.addEventListener('submit', () => sessionStorage.setItem('draft sent', key));
}

/**
 * Restores saved texts that differ from the page's own; returns whether there were any.
 * @param {(HTMLInputElement | HTMLTextAreaElement)[]} texts
 * @param {Record<string, string>} kept
 */
function restore(texts, kept) {
  let isRestored = false;
  for (const text of texts) {
    const value = kept[text.name];
    if (value === undefined || value === text.value) continue;
    text.value = value;
    text.dispatchEvent(new Event('input'));
    isRestored = true;
  }
  return isRestored;
}

/**
 * @param {HTMLFormElement} form
 * @param {string} key
 */
function sayRestored(form, key) {
  const notice = document.createElement('div');
  notice.className = 'notice';
  notice.setAttribute('role', 'status');
  const discard = document.createElement('button');
  discard.type = 'button';
  discard.className = 'secondary';
  discard.textContent = 'Discard it';
  discard.addEventListener('click', () => {
    sessionStorage.removeItem(key);
    location.reload();
  });
  const text = document.createElement('div');
  text.textContent = 'What you typed here before was restored.';
  notice.append(text, discard);
  form.before(notice);
}

// A sent draft has arrived if the next page shows no failure and is not the page of its form.
function dropSentDraft() {
  const key = sessionStorage.getItem('draft sent');
  sessionStorage.removeItem('draft sent');
  const forms = [...document.querySelectorAll('form[data-draft]')];
  const isHere = forms.some((form) => `draft ${form.getAttribute('data-draft')}` === key);
  if (key && !isHere && !document.documentElement.hasAttribute('data-failure'))
    sessionStorage.removeItem(key);
}
