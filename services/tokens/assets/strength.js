// Shows while a new password is typed whether it is accepted and how strong it is. The server decides.
const pauseMs = 250;

for (const input of document.querySelectorAll('input[data-strength]')) {
  if (input instanceof HTMLInputElement) watch(input);
}

/** @param {HTMLInputElement} input */
function watch(input) {
  const output = document.createElement('div');
  output.className = 'progress';
  output.hidden = true;
  const words = document.createElement('p');
  words.setAttribute('role', 'status');
  const bar = document.createElement('progress');
  bar.max = 4;
  bar.setAttribute('aria-label', 'Strength');
  output.append(words, bar);
  input.closest('.field')?.append(output);
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  input.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(() => void update(), pauseMs);
  });

  async function update() {
    const asked = input.value;
    output.hidden = asked === '';
    if (asked === '') return;
    const verdict = await ask(input, asked);
    if (!verdict || asked !== input.value) return;
    words.textContent = verdict.text;
    bar.value = verdict.strength;
  }
}

/**
 * @param {HTMLInputElement} input
 * @param {string} password
 * @returns {Promise<{ text: string, strength: number } | undefined>}
 */
async function ask(input, password) {
  const email = input.form?.querySelector('input[name="email"], input[name="username"]');
  try {
    const response = await fetch(input.dataset.strength ?? '', {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify({ password, email: email instanceof HTMLInputElement ? email.value : '' }),
    });
    return response.ok ? await response.json() : undefined;
  } catch {
    return undefined;
  }
}
