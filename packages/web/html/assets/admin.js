// Helps in the admin: selects all rows of a page at once, counts the selected ones, adds rows to inline children, and looks up the objects
// that a field refers to, and adds them in a window of its own. Without this module, each row is selected by itself, saving gives more
// empty rows, a number is typed, and the form that adds an object leads back.
for (const form of document.querySelectorAll('form[data-select-rows]')) {
  if (form instanceof HTMLFormElement) addSelectAll(form);
}
for (const section of document.querySelectorAll('[data-inline]')) {
  if (section instanceof HTMLElement) addRows(section);
}
document.addEventListener('input', ({ target }) => {
  if (target instanceof HTMLInputElement && target.dataset.choices) lookUp(target, target.dataset.choices);
});
for (const input of document.querySelectorAll('input[data-choices]')) input.removeAttribute('inputmode');
document.addEventListener('click', openAddWindow);
window.addEventListener('message', takeAdded);
tellAdded();

/** @param {HTMLFormElement} form */
function addSelectAll(form) {
  const boxes = /** @type {HTMLInputElement[]} */ ([...form.querySelectorAll('[name="_selected_action"]')]);
  const head = form.querySelector('thead th.select');
  const output = form.querySelector('[data-selected-count]');
  if (!head || boxes.length === 0) return;
  const all = document.createElement('input');
  all.type = 'checkbox';
  all.setAttribute('aria-label', 'Select all on this page');
  head.append(all);
  const update = () => {
    const count = boxes.filter((box) => box.checked).length;
    all.checked = count === boxes.length;
    all.indeterminate = count > 0 && count < boxes.length;
    if (output) output.textContent = count > 0 ? `${count} of ${boxes.length} selected` : '';
  };
  all.addEventListener('change', () => {
    for (const box of boxes) box.checked = all.checked;
    update();
  });
  let last = -1;
  form.addEventListener('click', (event) => {
    const index = boxes.indexOf(/** @type {HTMLInputElement} */ (event.target));
    if (index === -1) return;
    // Shift selects everything in between.
    if (event.shiftKey && last !== -1) {
      const checked = /** @type {HTMLInputElement} */ (boxes[index]).checked;
      for (const box of boxes.slice(Math.min(index, last), Math.max(index, last) + 1)) box.checked = checked;
    }
    last = index;
    update();
  });
  window.addEventListener('pageshow', update);
  update();
}

/** @param {HTMLElement} section */
function addRows(section) {
  const rows = [...section.querySelectorAll('tbody tr')];
  const model = rows.filter((row) => row.hasAttribute('data-added')).at(-1);
  if (!model) return;
  const blank = /** @type {HTMLElement} */ (model.cloneNode(true));
  let count = rows.length;
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'quiet';
  button.textContent = 'Add another row';
  button.addEventListener('click', () => {
    const row = /** @type {HTMLElement} */ (blank.cloneNode(true));
    renumber(row, count);
    count += 1;
    section.querySelector('tbody')?.append(row);
    row.querySelector('input, select, textarea')?.scrollIntoView({ block: 'nearest' });
    /** @type {HTMLElement | null} */ (row.querySelector('input, select, textarea'))?.focus();
  });
  section.append(button);
}

/**
 * Gives the controls of a copied row their own names.
 * @param {HTMLElement} row
 * @param {number} index
 */
function renumber(row, index) {
  for (const element of row.querySelectorAll('[name], [id], [for]')) {
    for (const name of ['name', 'id', 'for', 'aria-describedby']) {
      const value = element.getAttribute(name);
      if (value) element.setAttribute(name, value.replace(/-\d+-/g, `-${index}-`));
    }
  }
  for (const label of row.querySelectorAll('label')) {
    const text = label.querySelector('span') ?? label;
    text.textContent = (text.textContent ?? '').replace(/ \d+:/, ` ${index + 1}:`);
  }
}

/**
 * Windows that add an object, and the controls that they were opened for.
 * @type {Map<MessageEventSource, HTMLSelectElement | HTMLInputElement>}
 */
const addWindows = new Map();

/** @param {MouseEvent} event */
function openAddWindow(event) {
  const link = event.target instanceof Element ? event.target.closest('a[data-add-related]') : null;
  if (!(link instanceof HTMLAnchorElement) || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const control = link.closest('[data-related]')?.querySelector('select, input');
  if (!(control instanceof HTMLSelectElement || control instanceof HTMLInputElement)) return;
  // A browser that opens no window follows the link.
  const opened = window.open(`${link.href}&_window=1`, '_blank', 'popup,width=760,height=680');
  if (!opened) return;
  event.preventDefault();
  addWindows.set(opened, control);
}

/**
 * Picks the object that a window has added, and offers it to the other controls that can refer to it.
 * @param {MessageEvent} event
 */
function takeAdded({ origin, source, data }) {
  const control = source && addWindows.get(source);
  if (!control || origin !== location.origin || typeof data?.picked !== 'string') return;
  addWindows.delete(/** @type {MessageEventSource} */ (source));
  const { picked, title } = data;
  const model = control.closest('[data-related]')?.getAttribute('data-related') ?? '';
  for (const select of document.querySelectorAll(`[data-related="${CSS.escape(model)}"] select`))
    if (select instanceof HTMLSelectElement) select.add(new Option(title, picked));
  control.value = picked;
  const chosen = control.closest('.field')?.querySelector('[data-chosen]');
  if (chosen) chosen.textContent = `“${title}”.`;
  control.dispatchEvent(new Event('change', { bubbles: true }));
  control.focus();
}

/** Tells the form that opened this window which object was added. */
function tellAdded() {
  const added = document.querySelector('[data-picked]');
  if (!(added instanceof HTMLElement) || !window.opener) return;
  window.opener.postMessage({ picked: added.dataset.picked, title: added.dataset.title }, location.origin);
  window.close();
}

const typingMs = 150;
/** @type {WeakMap<HTMLInputElement, ReturnType<typeof setTimeout>>} */
const lookUps = new WeakMap();

/**
 * Offers matches for the text of a field, once typing pauses.
 * @param {HTMLInputElement} input
 * @param {string} url
 */
function lookUp(input, url) {
  clearTimeout(lookUps.get(input));
  const list = listOf(input);
  const known = [...list.options].find(({ value }) => value === input.value);
  const chosen = input.closest('.field')?.querySelector('[data-chosen]');
  if (chosen) chosen.textContent = known ? `“${known.label}”.` : 'Type a part of the title, or the number.';
  if (known || input.value.trim() === '') return;
  lookUps.set(
    input,
    setTimeout(async () => {
      const text = input.value;
      const response = await fetch(`${url}?${new URLSearchParams({ q: text })}`).catch(() => undefined);
      if (!response?.ok || input.value !== text) return;
      /** @type {{ choices: { id: string, title: string }[] }} */
      const { choices } = await response.json();
      list.replaceChildren(...choices.map(({ id, title }) => new Option(title, id)));
    }, typingMs),
  );
}

/**
 * The choices of a field: browsers show their titles, and take the number of the one that is chosen.
 * @param {HTMLInputElement} input
 */
function listOf(input) {
  const id = `${input.id}-choices`;
  const known = document.getElementById(id);
  if (known instanceof HTMLDataListElement) return known;
  const list = document.createElement('datalist');
  list.id = id;
  input.after(list);
  input.setAttribute('list', id);
  return list;
}
