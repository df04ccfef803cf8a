// Likes without loading the page again, and copies links. Without this module, the forms do it with a reload.
for (const form of document.querySelectorAll('form[data-like]')) {
  if (form instanceof HTMLFormElement) form.addEventListener('submit', (event) => void like(form, event));
}
for (const button of document.querySelectorAll('button[data-copy]')) {
  if (button instanceof HTMLButtonElement && navigator.clipboard) offerCopy(button);
}

/**
 * @param {HTMLFormElement} form
 * @param {SubmitEvent} event
 */
async function like(form, event) {
  const button = form.querySelector('button');
  // A stranger is sent to sign in by the form itself.
  if (!button || !form.querySelector('[name="_csrf"]')) return;
  event.preventDefault();
  const body = new URLSearchParams(/** @type {any} */ (new FormData(form)));
  body.set(button.name, button.value);
  const response = await fetch(form.action, {
    method: 'POST',
    body,
    headers: { accept: 'application/json' },
  }).catch(() => undefined);
  if (!response?.ok) {
    location.reload();
    return;
  }
  const { likes } = await response.json();
  const isLiked = button.value === '1';
  button.value = isLiked ? '0' : '1';
  button.setAttribute('aria-pressed', String(isLiked));
  button.title = isLiked ? 'You like this. Remove your like' : 'Like this quote';
  const count = button.querySelector('[data-likes]');
  if (count) count.textContent = likes.toLocaleString('en');
  const label = button.querySelector('.hidden');
  if (label) label.textContent = `${button.title}, ${likes} ${likes === 1 ? 'like' : 'likes'}`;
}

/** @param {HTMLButtonElement} button */
function offerCopy(button) {
  button.hidden = false;
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(button.dataset.copy ?? '');
    const label = button.querySelector('span');
    if (label) label.textContent = 'Copied';
  });
}
