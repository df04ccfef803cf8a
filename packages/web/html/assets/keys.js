// Ctrl+K and ? open the box of `palette.js`, / goes to the search of the page. Tells screen readers of each quarter of a progress bar.
const searchBox = () => document.querySelector('main [role="search"] input, [role="search"] input');

document.addEventListener('keydown', (event) => {
  const { key, target } = event;
  const isCommand = (event.ctrlKey || event.metaKey) && !event.altKey && key.toLowerCase() === 'k';
  if (isCommand) {
    event.preventDefault();
    void openPalette();
  }
  const isTyping = target instanceof Element && target.matches('input, textarea, select, [contenteditable]');
  if (isTyping || event.ctrlKey || event.metaKey || event.altKey || document.querySelector('dialog[open]'))
    return;
  const box = key === '/' ? searchBox() : null;
  if (box instanceof HTMLElement) {
    event.preventDefault();
    box.focus();
  } else if (key === '/' || key === '?') {
    event.preventDefault();
    void openPalette();
  }
});
for (const button of document.querySelectorAll('[data-palette]')) {
  if (!(button instanceof HTMLElement)) continue;
  button.hidden = false;
  button.addEventListener('click', () => void openPalette());
}

async function openPalette() {
  const { open } = await import(new URL('palette.js', import.meta.url).href);
  await open();
}

/** @type {WeakMap<Element, number>} */
const quarters = new WeakMap();
const watcher = new MutationObserver((changes) => {
  for (const { target } of changes) if (target instanceof HTMLProgressElement) tellQuarter(target);
});
watcher.observe(document.body, { subtree: true, attributeFilter: ['value'] });

/** @param {HTMLProgressElement} bar */
function tellQuarter(bar) {
  const quarter = Math.floor(bar.position * 4);
  const output = bar.closest('[data-progress]')?.querySelector('[role="status"]');
  if (!output || quarter <= (quarters.get(bar) ?? 0)) return;
  quarters.set(bar, quarter);
  output.textContent = `${bar.getAttribute('aria-label')}: ${quarter * 25}%`;
}
