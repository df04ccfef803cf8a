// Uploads files one by one with their progress. Only XMLHttpRequest tells how much was sent.
const form = /** @type {HTMLFormElement | null} */ (document.querySelector('[data-upload]'));

form?.addEventListener('submit', async (event) => {
  event.preventDefault();
  const input = /** @type {HTMLInputElement} */ (form.elements.namedItem('file'));
  const button = form.querySelector('button');
  button?.setAttribute('disabled', '');
  const results = [];
  for (const file of input.files ?? []) results.push(await upload(file, addLine(file.name)));
  button?.removeAttribute('disabled');
  if (results.length > 0 && results.every(Boolean)) location.reload();
});

/** @param {string} name */
function addLine(name) {
  const line = document.createElement('div');
  const label = document.createElement('p');
  const bar = document.createElement('progress');
  bar.setAttribute('max', '1');
  bar.setAttribute('aria-label', name);
  label.textContent = name;
  line.append(label, bar);
  form?.querySelector('[data-uploads]')?.append(line);
  return {
    /** @param {number} share */
    progress(share) {
      bar.setAttribute('value', String(share));
      label.textContent = `${name}: ${share < 1 ? `${Math.round(share * 100)} %` : 'is being read'}`;
    },
    /**
     * @param {string} text
     * @param {boolean} isGood
     */
    end(text, isGood) {
      bar.remove();
      label.textContent = `${name}: ${text}`;
      if (!isGood) line.className = 'notice bad';
    },
  };
}

/**
 * @param {File} file
 * @param {ReturnType<typeof addLine>} line
 * @returns {Promise<boolean>}
 */
function upload(file, line) {
  return new Promise((resolve) => {
    const request = new XMLHttpRequest();
    const body = new FormData();
    body.append('file', file);
    const end = (/** @type {string} */ text, /** @type {boolean} */ isGood) => {
      line.end(text, isGood);
      resolve(isGood);
    };
    request.upload.addEventListener('progress', ({ loaded, total }) => line.progress(loaded / total));
    request.addEventListener('error', () => end('could not be sent', false));
    request.addEventListener('load', () => {
      const { documents, error } = JSON.parse(request.responseText || '{}');
      if (error) end(error.message, false);
      else end(documents?.[0]?.status ?? 'done', true);
    });
    request.open('POST', form?.action ?? '');
    request.send(body);
  });
}
