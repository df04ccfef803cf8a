// Adds a line for a choice without loading the page, and one more while the last is typed in.
const form = document.querySelector('[data-lines-max]');
const lines = form?.querySelector('[data-lines]');
const button = form?.querySelector('[data-more]');
if (form instanceof HTMLFormElement && lines && button instanceof HTMLButtonElement) {
  const inputs = () => [...lines.querySelectorAll('input')];
  const max = Number(form.dataset.linesMax);

  const add = () => {
    const last = lines.querySelector('.field:last-of-type');
    const number = inputs().length + 1;
    if (!last || number > max) return undefined;
    const line = /** @type {HTMLElement} */ (last.cloneNode(true));
    const input = line.querySelector('input');
    const label = line.querySelector('label');
    if (!input || !label) return undefined;
    line.querySelector('.wrong')?.remove();
    input.id = `field-choice_${number}`;
    input.name = `choice_${number}`;
    input.value = '';
    input.removeAttribute('aria-invalid');
    input.removeAttribute('aria-describedby');
    label.htmlFor = input.id;
    label.textContent = `Choice ${number}`;
    last.after(line);
    button.hidden = number >= max;
    return input;
  };

  button.type = 'button';
  button.addEventListener('click', () => add()?.focus());
  lines.addEventListener('input', ({ target }) => {
    if (target === inputs().at(-1)) add();
  });
}
