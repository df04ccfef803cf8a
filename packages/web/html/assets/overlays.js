// Opens confirmation pages as dialogs, and closes menus. Without this module, the links lead to those pages.
document.addEventListener('click', (event) => {
  const target = event.target instanceof Element ? event.target : null;
  const opener = target?.closest('a[data-dialog]');
  const isPlain = event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey;
  if (opener instanceof HTMLAnchorElement && isPlain) {
    event.preventDefault();
    void open(opener);
  } else if (target?.closest('dialog [data-close]')) {
    event.preventDefault();
    target.closest('dialog')?.close();
  }
  closeMenus(target?.closest('details.menu') ?? null);
});

document.addEventListener('keydown', (event) => {
  if (event.key !== 'Escape') return;
  const menu = document.querySelector('details.menu[open]');
  closeMenus(null);
  menu?.querySelector('summary')?.focus();
});

/** @param {HTMLAnchorElement} opener */
async function open(opener) {
  const content = await contentOf(opener.href);
  if (!content) {
    location.assign(opener.href);
    return;
  }
  const dialog = document.createElement('dialog');
  dialog.setAttribute('aria-labelledby', content.querySelector('h2')?.id ?? '');
  dialog.append(content);
  dialog.addEventListener('close', () => {
    dialog.remove();
    opener.focus();
  });
  dialog.addEventListener('click', (event) => {
    if (event.target === dialog) dialog.close();
  });
  document.body.append(dialog);
  dialog.showModal();
}

/**
 * The part of a page that becomes a dialog; undefined if the page is not the expected one.
 * @param {string} href
 */
async function contentOf(href) {
  try {
    const response = await fetch(href, { headers: { accept: 'text/html' } });
    const page = new DOMParser().parseFromString(await response.text(), 'text/html');
    return response.ok ? page.querySelector('[data-dialog-content]') : null;
  } catch {
    return null;
  }
}

/** @param {Element | null} except */
function closeMenus(except) {
  for (const menu of document.querySelectorAll('details.menu[open]')) {
    if (menu !== except) menu.removeAttribute('open');
  }
}
