// Keeps the preview of an import in step with the choices of its form. Without this module, a button does.

const form = document.querySelector('[data-import]');
/** @type {AbortController | undefined} */
let latest;

form?.addEventListener('change', () => {
  if (form instanceof HTMLFormElement) void follow(form);
});

/** @param {HTMLFormElement} form */
async function follow(form) {
  latest?.abort();
  latest = new AbortController();
  const query = new URLSearchParams();
  for (const [name, value] of new FormData(form))
    if (typeof value === 'string' && !/^(_csrf|once)$/.test(name)) query.append(name, value);
  const address = `${form.action}?${query}`;
  try {
    const response = await fetch(address, { headers: { accept: 'text/html' }, signal: latest.signal });
    if (!response.ok) return;
    show(new DOMParser().parseFromString(await response.text(), 'text/html'));
    history.replaceState(null, '', address);
  } catch {
    // The button still does it, and says what is wrong.
  }
}

/**
 * Puts the parts of another preview in place, except one in which a choice is open.
 * @param {Document} page
 */
function show(page) {
  for (const part of document.querySelectorAll('[data-preview], [data-import] > .actions')) {
    const name = part.getAttribute('data-preview');
    const selector = name === null ? '[data-import] > .actions' : `[data-preview="${name}"]`;
    const next = page.querySelector(selector);
    if (next && !part.contains(document.activeElement)) part.replaceWith(document.adoptNode(next));
  }
}
