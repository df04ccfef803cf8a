// Helps in the admin: marks all rows of a page at once, counts the marked ones, and adds rows to inline children. Without this
// module, each row is marked by itself, and saving gives more empty rows.
for (const form of document.querySelectorAll('form[data-marks]')) {
  if (form instanceof HTMLFormElement) addMarkAll(form);
}
for (const section of document.querySelectorAll('[data-inline]')) {
  if (section instanceof HTMLElement) addRows(section);
}

/** @param {HTMLFormElement} form */
function addMarkAll(form) {
  const boxes = /** @type {HTMLInputElement[]} */ ([...form.querySelectorAll('[name="_selected_action"]')]);
  const head = form.querySelector('thead th.select');
  const output = form.querySelector('[data-marked]');
  if (!head || boxes.length === 0) return;
  const all = document.createElement('input');
  all.type = 'checkbox';
  all.setAttribute('aria-label', 'Mark all on this page');
  head.append(all);
  const update = () => {
    const marked = boxes.filter((box) => box.checked).length;
    all.checked = marked === boxes.length;
    all.indeterminate = marked > 0 && marked < boxes.length;
    if (output) output.textContent = marked > 0 ? `${marked} of ${boxes.length} marked` : '';
  };
  all.addEventListener('change', () => {
    for (const box of boxes) box.checked = all.checked;
    update();
  });
  let last = -1;
  form.addEventListener('click', (event) => {
    const index = boxes.indexOf(/** @type {HTMLInputElement} */ (event.target));
    if (index === -1) return;
    // Shift marks everything in between.
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
    for (const name of ['name', 'id', 'for']) {
      const value = element.getAttribute(name);
      if (value) element.setAttribute(name, value.replace(/-\d+-/, `-${index}-`));
    }
  }
  for (const label of row.querySelectorAll('label')) {
    const text = label.querySelector('span') ?? label;
    text.textContent = (text.textContent ?? '').replace(/ \d+:/, ` ${index + 1}:`);
  }
}
