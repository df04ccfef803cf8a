// Keeps exactly one empty row at the end of an order's items. Without this module there are three, and saving gives more.
const body = document.querySelector('[data-items] tbody');
if (body instanceof HTMLElement) keepOneEmptyRow(body);

/** @param {HTMLElement} body */
function keepOneEmptyRow(body) {
  const blank = /** @type {Element} */ (body.lastElementChild?.cloneNode(true));
  document.querySelector('[data-items] [data-without-script]')?.remove();
  const update = () => {
    const empty = [...body.children].filter(isEmpty);
    if (empty.length === 0) body.append(blank.cloneNode(true));
    for (const row of empty.slice(0, -1)) if (!row.contains(document.activeElement)) row.remove();
    [...body.children].forEach(numberRow);
  };
  body.addEventListener('input', update);
  window.addEventListener('pageshow', update);
  update();
}

/** @param {Element} row */
function isEmpty(row) {
  return [...row.querySelectorAll('input')].every(({ value }) => value.trim() === '');
}

/**
 * @param {Element} row
 * @param {number} index
 */
function numberRow(row, index) {
  for (const input of row.querySelectorAll('input')) {
    input.setAttribute(
      'aria-label',
      `${input.getAttribute('aria-label')}`.replace(/\d+$/, String(index + 1)),
    );
  }
}
