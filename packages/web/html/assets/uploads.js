// Posts files and tells how much of them was sent.

/**
 * Sends a form and shows how much of its file has arrived, then the page that answers it. Without this the browser sends it.
 * @param {HTMLFormElement} form
 */
export function showUploading(form) {
  const place = form.querySelector('[data-uploading]');
  const bar = place?.querySelector('progress');
  const detail = place?.querySelector('[data-progress-detail]');
  const problem = form.querySelector('[data-upload-problem]');
  if (!(place instanceof HTMLElement) || !bar || !detail || !problem) return;
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    problem.textContent = sizeProblem(form, [...new FormData(form).values()]) ?? '';
    if (problem.textContent) return;
    send(form, (share) => {
      place.hidden = share === undefined;
      if (share === undefined) return;
      if (share < 1) bar.value = share * bar.max;
      else bar.removeAttribute('value');
      detail.textContent = share < 1 ? `${Math.floor(share * 100)}%` : 'The file is being read';
    }).catch((/** @type {Error} */ error) => {
      problem.textContent = error.message;
    });
  });
}

/**
 * @param {HTMLFormElement} form
 * @param {(share: number | undefined) => void} move takes the share of the file that was sent; undefined at the end
 * @returns {Promise<void>}
 */
async function send(form, move) {
  const button = form.querySelector('button:not([type])');
  button?.setAttribute('disabled', '');
  try {
    const { responseURL, responseText } = await post(form.action, new FormData(form), {
      accept: 'text/html',
      move,
    });
    if (responseURL === form.action) showPage(responseText);
    else location.assign(responseURL);
  } finally {
    button?.removeAttribute('disabled');
    move(undefined);
  }
}

/**
 * Problem with the size of files, for a form that names its limit in `data-bytes-max`. The server closes the connection on a larger file
 * before all of it was sent, which looks like a network that failed.
 * @param {HTMLFormElement} form
 * @param {readonly FormDataEntryValue[]} files
 */
export function sizeProblem({ dataset }, files) {
  const bytesMax = Number(dataset.bytesMax);
  if (!files.some((file) => file instanceof File && file.size > bytesMax)) return undefined;
  return `The file must be at most ${(bytesMax / 1024 / 1024).toLocaleString('en')} MB.`;
}

/**
 * Posts a form, and resolves to the request with its response. Throws an error for people if there is none. Only XMLHttpRequest tells how
 * much was sent.
 * @param {string} address
 * @param {FormData} body
 * @param {{ accept: string, move: (share: number) => void }} options
 * @returns {Promise<XMLHttpRequest>}
 */
export function post(address, body, { accept, move }) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.upload.addEventListener('progress', ({ loaded, total }) => move(loaded / total));
    request.addEventListener('load', () => resolve(request));
    request.addEventListener('error', () =>
      reject(new Error('The file could not be sent. Check your connection, then try again.')),
    );
    request.open('POST', address);
    request.setRequestHeader('accept', accept);
    request.send(body);
  });
}

/**
 * Shows a page that has the address of the form that was sent, such as one that says what is wrong with the file.
 * @param {string} text
 */
function showPage(text) {
  const page = new DOMParser().parseFromString(text, 'text/html');
  const [old, fresh] = [document, page].map((one) => one.querySelector('main'));
  if (!old || !fresh) return location.reload();
  document.title = page.title;
  old.replaceWith(fresh);
  window.scrollTo(0, 0);
  fresh.dispatchEvent(new CustomEvent('contentchange', { bubbles: true }));
}
