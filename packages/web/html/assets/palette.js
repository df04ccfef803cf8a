// A box to go to a page, to a record of this service, or to another service: Ctrl+K. `overlays.js` loads it when it is asked for. Without
// it, the menus and the search boxes of lists lead to the same.
const recordsMax = 6;
const waitMs = 200;

/** @typedef {{ group: string, label: string, href: string }} Entry */

const dialog = document.createElement('dialog');
dialog.className = 'palette';
dialog.setAttribute('aria-label', 'Search and go to');
dialog.innerHTML = `<input type="search" role="combobox" aria-expanded="true" aria-controls="palette-entries" aria-label="Search and go to"
placeholder="Search, or go to a page" autocomplete="off"><div id="palette-entries" role="listbox" aria-label="Entries"></div>
<p class="small muted"><kbd>↑</kbd> <kbd>↓</kbd> choose, <kbd>Enter</kbd> opens, <kbd>Esc</kbd> closes. <kbd>/</kbd> goes to the search of a page, <kbd>?</kbd> shows this.</p>
<p class="hidden" role="status"></p>`;
const input = /** @type {HTMLInputElement} */ (dialog.querySelector('input'));
const list = /** @type {HTMLElement} */ (dialog.querySelector('[role="listbox"]'));
const status = /** @type {HTMLElement} */ (dialog.querySelector('[role="status"]'));
document.body.append(dialog);
const styles = document.createElement('link');
styles.rel = 'stylesheet';
styles.href = new URL('palette.css', import.meta.url).href;
const areLoaded = new Promise((resolve) => {
  for (const type of ['load', 'error']) styles.addEventListener(type, resolve);
});
document.head.append(styles);

/** @type {Entry[]} */
let records = [];
let chosen = 0;
let asked = 0;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;

input.addEventListener('input', () => {
  records = [];
  chosen = 0;
  draw();
  clearTimeout(timer);
  timer = setTimeout(() => void findRecords(input.value.trim()), waitMs);
});
dialog.addEventListener('keydown', (event) => {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const options = list.querySelectorAll('a');
  if (step !== undefined && options.length > 0) {
    event.preventDefault();
    chosen = (chosen + step + options.length) % options.length;
    mark();
  } else if (event.key === 'Enter' && !event.isComposing) {
    event.preventDefault();
    options[chosen]?.click();
  }
});
dialog.addEventListener('click', ({ target }) => {
  if (target === dialog || (target instanceof Element && target.closest('a'))) dialog.close();
});

/** Opens the box. */
export async function open() {
  await areLoaded;
  if (dialog.open) return;
  input.value = '';
  records = [];
  chosen = 0;
  draw();
  dialog.showModal();
}

/** @returns {Entry[]} */
function links() {
  const groups = /** @type {const} */ ([
    ['Go to', 'nav[aria-label="Main"] a'],
    ['Here', 'main > .head .actions a[href]:not([data-dialog])'],
    ['Services', '.menu.suite a'],
  ]);
  return groups.flatMap(([group, selector]) =>
    [...document.querySelectorAll(selector)].map((link) => ({
      group,
      label: link.textContent?.trim() ?? '',
      href: /** @type {HTMLAnchorElement} */ (link).href,
    })),
  );
}

/** The lists of this service that can be searched, with their addresses for a text. @param {string} text */
function searches(text) {
  const box = document.querySelector('header form[role="search"]');
  const all =
    box instanceof HTMLFormElement
      ? [{ label: box.ariaLabel ?? 'Search', href: `${box.action}?q=${encodeURIComponent(text)}` }]
      : [];
  const lists = [...document.querySelectorAll('nav[aria-label="Main"] a[data-search]')].map((link) => {
    const { href, dataset, textContent } = /** @type {HTMLAnchorElement} */ (link);
    const url = new URL(href);
    url.searchParams.set(dataset.search ?? '', text);
    return { label: textContent?.trim() ?? '', href: url.href };
  });
  return [...all, ...lists];
}

/** Asks the lists of this service, as their search boxes do. @param {string} text */
async function findRecords(text) {
  asked += 1;
  const number = asked;
  if (text.length < 2) return;
  const found = await Promise.all(searches(text).map(readList));
  if (number !== asked || !dialog.open) return;
  records = found.flat();
  draw();
}

/** @param {{ label: string, href: string }} list */
async function readList({ label, href }) {
  try {
    const response = await fetch(href, { headers: { accept: 'text/html' } });
    const page = new DOMParser().parseFromString(await response.text(), 'text/html');
    const rows = response.ok
      ? [
          ...page.querySelectorAll(
            'main .table tbody .main a, main .models.found a, main .quotes blockquote a',
          ),
        ].slice(0, recordsMax)
      : [];
    return rows.map((row) => ({
      group: label,
      label: row.textContent?.trim() ?? '',
      href: new URL(row.getAttribute('href') ?? '', href).href,
    }));
  } catch {
    return [];
  }
}

function draw() {
  const text = input.value.trim();
  const words = text.toLowerCase().split(/\s+/);
  const pages = links().filter(({ label, group }) =>
    words.every((word) => `${label} ${group}`.toLowerCase().includes(word)),
  );
  const search = text
    ? searches(text).map(({ label, href }) => ({ group: 'Search', label: `${label}: “${text}”`, href }))
    : [];
  const entries = [...pages, ...records, ...search];
  list.replaceChildren(
    ...entries.flatMap((entry, index) => [...headOf(entries, index), optionOf(entry, index)]),
  );
  status.textContent = entries.length === 1 ? '1 entry' : `${entries.length} entries`;
  mark();
}

/**
 * @param {Entry[]} entries
 * @param {number} index
 */
function headOf(entries, index) {
  const group = entries[index]?.group ?? '';
  if (group === entries[index - 1]?.group) return [];
  const head = document.createElement('div');
  head.className = 'group';
  head.setAttribute('role', 'presentation');
  head.textContent = group;
  return [head];
}

/**
 * @param {Entry} entry
 * @param {number} index
 */
function optionOf({ label, href }, index) {
  const option = document.createElement('a');
  option.id = `palette-${index}`;
  option.setAttribute('role', 'option');
  option.tabIndex = -1;
  option.href = href;
  option.textContent = label;
  return option;
}

function mark() {
  const options = [...list.querySelectorAll('a')];
  chosen = Math.min(chosen, Math.max(options.length - 1, 0));
  for (const [index, option] of options.entries())
    option.setAttribute('aria-selected', String(index === chosen));
  input.setAttribute('aria-activedescendant', options[chosen]?.id ?? '');
  options[chosen]?.scrollIntoView({ block: 'nearest' });
}
