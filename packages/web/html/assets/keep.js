// Copies, downloads and prints texts that are shown once. Without this module its buttons stay hidden.
const saidMs = 4_000;

offerIn(document);
// Other modules send it from an element whose content they replaced.
document.addEventListener('contentchange', (event) => {
  if (event.target instanceof Element) offerIn(event.target);
});

/** @param {ParentNode} parent */
function offerIn(parent) {
  for (const box of parent.querySelectorAll('[data-keep][hidden]')) {
    if (box instanceof HTMLElement) offer(box, box.dataset.keep ?? '');
  }
}

/**
 * @param {HTMLElement} box
 * @param {string} text
 */
function offer(box, text) {
  box.hidden = false;
  on(box, '[data-copy-text]', async () =>
    say(box, (await copy(text)) ? 'Copied.' : 'Select the text and copy it.'),
  );
  on(box, '[data-download]', (button) => {
    download(text, button.dataset.download ?? 'text.txt');
    say(box, 'Downloaded.');
  });
  on(box, '[data-print]', () => print());
}

/**
 * @param {HTMLElement} box
 * @param {string} selector
 * @param {(button: HTMLElement) => void} act
 */
function on(box, selector, act) {
  const button = box.querySelector(selector);
  if (button instanceof HTMLElement) button.addEventListener('click', () => act(button));
}

/**
 * Browsers give the clipboard to pages over HTTPS or on this machine only.
 * @param {string} text
 */
async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * @param {string} text
 * @param {string} name
 */
function download(text, name) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([`${text}\n`], { type: 'text/plain' }));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}

/**
 * @param {HTMLElement} box
 * @param {string} words
 */
function say(box, words) {
  const status = box.querySelector('[role="status"]');
  if (!status) return;
  status.textContent = words;
  setTimeout(() => {
    status.textContent = '';
  }, saidMs);
}
