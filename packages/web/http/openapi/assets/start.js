// Shows /openapi.json with Scalar, in the color scheme that the reader chose for the pages.
const [, theme] = /(?:^|; )octavo_theme=(light|dark)/.exec(document.cookie) ?? [];

const reference = document.querySelector('#reference');
void tokenOf(reference.dataset.token).then(show);

// The token of the signed-in user, so that they can try requests immediately.
async function tokenOf(path) {
  if (!path) return undefined;
  const response = await fetch(path, { headers: { accept: 'application/json' } }).catch(() => undefined);
  return response?.ok ? (await response.json()).token : undefined;
}

function show(token) {
  // Its own heading takes the place of ours.
  reference.replaceChildren();
  Scalar.createApiReference(reference, {
    url: '/openapi.json',
    withDefaultFonts: false,
    telemetry: false,
    agent: { disabled: true },
    mcp: { disabled: true },
    showDeveloperTools: 'never',
    ...(token && { authentication: authenticationBy(reference.dataset.scheme, token) }),
    ...(theme && { forceDarkModeState: theme, hideDarkModeToggle: true }),
  });
}

// The dialect of Django REST Framework has a header of its own.
function authenticationBy(scheme, token) {
  const value = scheme === 'bearer' ? { token } : { value: `Token ${token}` };
  return { preferredSecurityScheme: scheme, securitySchemes: { [scheme]: value } };
}

// Scalar's copy buttons have no text for screen readers, and the names of others lack the text that is seen.
new MutationObserver(nameButtons).observe(document.body, { childList: true, subtree: true });

function nameButtons() {
  for (const button of document.querySelectorAll('.scalar-code-copy:not([aria-label])')) {
    button.setAttribute('aria-label', 'Copy');
  }
  for (const button of document.querySelectorAll('.show-more[aria-label^="Show all"]')) {
    button.setAttribute('aria-label', `${button.textContent.trim()}: ${button.getAttribute('aria-label')}`);
  }
}
