// Selects all rows of a table, or a range with Shift, and shows how many are selected.
for (const form of document.querySelectorAll('form[data-selection]')) {
  if (form instanceof HTMLFormElement) enhance(form);
}

/** @param {HTMLFormElement} form */
function enhance(form) {
  const all = form.querySelector('[data-select-all]');
  const bar = form.querySelector('[data-selection-bar]');
  const output = form.querySelector('[data-selection-count]');
  const boxes = [...form.querySelectorAll('td.select input')].filter(
    (box) => box instanceof HTMLInputElement,
  );
  if (!(all instanceof HTMLInputElement) || !(bar instanceof HTMLElement)) return;
  all.hidden = false;
  // Stands for all that match, also those on other pages.
  const whole = bar.querySelector('[data-selection-total]');
  const isWhole = () => whole instanceof HTMLInputElement && whole.checked;
  /** @param {boolean} isChecked */
  const keepWhole = (isChecked) => {
    if (whole instanceof HTMLInputElement && !isChecked) whole.checked = false;
  };
  let last = -1;
  const update = () => {
    const count = boxes.filter((box) => box.checked).length;
    bar.hidden = count === 0;
    if (output)
      output.textContent = `${isWhole() ? whole?.getAttribute('data-selection-total') : count} selected`;
    all.checked = count > 0 && count === boxes.length;
    all.indeterminate = count > 0 && count < boxes.length;
  };
  /** @param {boolean} isChecked */
  const checkAll = (isChecked) => {
    for (const box of boxes) box.checked = isChecked;
    keepWhole(isChecked);
    update();
  };
  all.addEventListener('change', () => checkAll(all.checked));
  whole?.addEventListener('change', update);
  bar.querySelector('.actions')?.prepend(
    button('Select all', () => checkAll(true)),
    button('Clear', () => checkAll(false)),
  );
  boxes.forEach((box, index) => {
    box.addEventListener('click', (event) => {
      if (event.shiftKey && last !== -1) {
        for (const other of boxes.slice(Math.min(last, index), Math.max(last, index) + 1))
          other.checked = box.checked;
      }
      last = index;
      keepWhole(box.checked);
      update();
    });
  });
  // The browser restores what was selected when the page is shown again.
  window.addEventListener('pageshow', update);
  update();
}

/**
 * @param {string} label
 * @param {() => void} onClick
 */
function button(label, onClick) {
  const made = document.createElement('button');
  made.type = 'button';
  made.className = 'quiet';
  made.textContent = label;
  made.addEventListener('click', onClick);
  return made;
}
