// Switches the color scheme at once. Without this module, the form does it with a reload.
for (const form of document.querySelectorAll('form[data-themes]')) {
  form.addEventListener('submit', (event) => {
    const button = /** @type {SubmitEvent} */ (event).submitter;
    if (!(button instanceof HTMLButtonElement)) return;
    event.preventDefault();
    choose(button.value);
  });
}

/** @param {string} theme `auto`, `light` or `dark` */
function choose(theme) {
  const ageSeconds = theme === 'auto' ? 0 : 31_536_000;
  // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API needs HTTPS, which a first try at home does not have
  document.cookie = `octavo_theme=${theme}; Path=/; SameSite=Lax; Max-Age=${ageSeconds}`;
  if (theme === 'auto') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  for (const button of document.querySelectorAll('form[data-themes] button')) {
    button.setAttribute(
      'aria-pressed',
      String(button instanceof HTMLButtonElement && button.value === theme),
    );
  }
}
