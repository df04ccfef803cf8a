// Helps with forms: focuses the first invalid field, counts characters while you type, shows passwords, prevents sending a form twice, and keeps
// what you typed across a reload, a lost connection or an expired session (in this tab only).
prepare(document);
document.addEventListener('contentchange', ({ target }) => {
  if (target instanceof Element) prepare(target);
});

for (const input of document.querySelectorAll('[data-count-max]')) {
  if (input instanceof HTMLInputElement || input instanceof HTMLTextAreaElement) countCharacters(input);
}
dropSentDraft();
for (const form of document.querySelectorAll('form[data-draft]')) {
  if (form instanceof HTMLFormElement) keepDraft(form);
}
for (const form of document.querySelectorAll('form[data-sign-out]')) {
  form.addEventListener('submit', () => sessionStorage.clear());
}
for (const button of document.querySelectorAll('[data-reveal]')) {
  if (button instanceof HTMLButtonElement) revealWith(button);
}

/**
 * Also for a part of the page that a module has replaced.
 * @param {ParentNode} root
 */
function prepare(root) {
  const firstBad = root.querySelector('[aria-invalid="true"]');
  if (firstBad instanceof HTMLElement) firstBad.focus();
  for (const form of root.querySelectorAll('form')) {
    if (form.method !== 'dialog') showSending(form);
  }
}

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

/**
 * After 300 ms the button of a form shows that the form is on its way. A form that changes something is sent once. A form that a script
 * sends in its place has its own signs.
 * @param {HTMLFormElement} form
 */
function showSending(form) {
  let isSent = false;
  /** @type {HTMLElement | null} */
  let button = null;
  /** @type {ReturnType<typeof setInterval> | undefined} */
  let timer;
  const end = () => {
    clearInterval(timer);
    isSent = false;
    button?.removeAttribute('aria-busy');
  };
  form.addEventListener('submit', (event) => {
    if (isSent && form.method === 'post') event.preventDefault();
    if (event.defaultPrevented || !navigator.onLine) return;
    end();
    isSent = true;
    button = event.submitter ?? form.querySelector('button:not([type="button"])');
    timer = setInterval(() => {
      if (event.defaultPrevented) return end();
      if (!tookFile()) return button?.setAttribute('aria-busy', 'true');
      end();
      delete document.documentElement.dataset.waiting;
    }, 300);
  });
  form.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) form.requestSubmit();
  });
  // The browser may keep this page and show it again.
  window.addEventListener('pagehide', end);
  window.addEventListener('pageshow', end);
}

// Returns true once after a form was answered with a file, which leaves the page in place: the server says so in a cookie.
function tookFile() {
  if (!/(?:^|; )octavo_file=1/.test(document.cookie)) return false;
  // biome-ignore lint/suspicious/noDocumentCookie: plain HTTP has no Cookie Store API
  document.cookie = 'octavo_file=; Max-Age=0; Path=/';
  return true;
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

// Forgets a sent draft that has arrived: the next page shows no failure and no request to sign in. Where that page has the form again,
// a redirect led to it, which is the response to a form that was taken.
function dropSentDraft() {
  const key = sessionStorage.getItem('draft sent');
  sessionStorage.removeItem('draft sent');
  if (!key || document.documentElement.hasAttribute('data-failure')) return;
  if (document.querySelector('[autocomplete="current-password"]')) return;
  const forms = [...document.querySelectorAll('form[data-draft]')];
  const isHere = forms.some((form) => `draft ${form.getAttribute('data-draft')}` === key);
  const [arrival] = performance.getEntriesByType('navigation');
  const isRedirected = arrival instanceof PerformanceNavigationTiming && arrival.redirectCount > 0;
  if (!isHere || isRedirected) sessionStorage.removeItem(key);
}
