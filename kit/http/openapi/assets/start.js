// Shows /openapi.json with Scalar, in the color scheme that the reader chose for the pages.
const [, theme] = /(?:^|; )octavo_theme=(light|dark)/.exec(document.cookie) ?? [];

Scalar.createApiReference('#reference', {
  url: '/openapi.json',
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  showDeveloperTools: 'never',
  ...(theme && { forceDarkModeState: theme, hideDarkModeToggle: true }),
});

// Scalar's copy buttons have no text for screen readers.
new MutationObserver(nameButtons).observe(document.body, { childList: true, subtree: true });

function nameButtons() {
  for (const button of document.querySelectorAll('.scalar-code-copy:not([aria-label])')) {
    button.setAttribute('aria-label', 'Copy');
  }
}
