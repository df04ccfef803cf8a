// Uploads a whole folder, and says what became of its files.
import { collectionOf, FolderError, isLeftOut, outcomes, sendFolder } from './folder.js';
import { addLine, refresh, visibilityIn } from './upload.js';

/** @typedef {import('./folder.js').Outcome} Outcome */

const input = /** @type {HTMLInputElement | null} */ (document.querySelector('[data-folder] input'));
const form = input?.form;

if (input && form) {
  input.closest('[data-folder]')?.removeAttribute('hidden');
  input.addEventListener('change', async () => {
    const files = [...(input.files ?? [])];
    input.value = '';
    if (files.length === 0) return;
    input.disabled = true;
    await upload(form, files);
    input.disabled = false;
  });
}

/**
 * @param {HTMLFormElement} form
 * @param {readonly File[]} files
 */
async function upload(form, files) {
  const [name = ''] = files[0]?.webkitRelativePath.split('/') ?? [];
  const line = addLine(name);
  /** @type {Map<Outcome, string[]>} */
  const paths = new Map();
  /** @type {(outcome: Outcome, path: string, reason?: string) => void} */
  const tell = (outcome, path, reason) => {
    const told = reason === undefined ? path : `${path}: ${reason}`;
    paths.set(outcome, [...(paths.get(outcome) ?? []), told]);
  };
  const shown = files.filter(({ webkitRelativePath: path }) => !isLeftOut(path.slice(name.length + 1)));
  let problem = '';
  try {
    await sendFolder(shown.map(entryOf), {
      url: '',
      headers: {},
      collection: collectionOf(name),
      visibility: visibilityIn(form),
      removes: false,
      signal: undefined,
      tell,
      progress: (text, share = 1) => line.progress(share, text),
      wait: (seconds) => new Promise((resolve) => setTimeout(resolve, seconds * 1_000)),
    });
  } catch (error) {
    problem = error instanceof FolderError ? `${error.message} ` : 'The folder could not be sent. ';
  }
  const told = outcomes.flatMap((outcome) => {
    const named = paths.get(outcome)?.sort() ?? [];
    return named.length === 0 ? [] : [{ count: `${named.length} ${outcome}`, named }];
  });
  const counts = told.map(({ count }) => count).join(', ');
  line.end(problem + counts, problem || paths.has('refused') ? 'bad' : 'good');
  form.append(...told.map(({ count, named }) => listOf(`${name}: ${count}`, named)));
  await refresh('[data-listing]', '[data-vectors]');
}

/** @param {File} file */
function entryOf(file) {
  const read = async () => {
    const bytes = await file.arrayBuffer().catch(() => undefined);
    if (!bytes) throw new FolderError('The file changed or cannot be read.');
    return new Uint8Array(bytes);
  };
  const hash = async () => {
    // Browsers have it for HTTPS and for this machine only.
    if (!window.isSecureContext) return undefined;
    const digest = await crypto.subtle.digest('SHA-256', await read());
    return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  };
  return { path: file.webkitRelativePath, size: file.size, read, hash };
}

/**
 * @param {string} title
 * @param {readonly string[]} paths
 */
function listOf(title, paths) {
  const details = document.createElement('details');
  const summary = document.createElement('summary');
  const list = document.createElement('ul');
  summary.textContent = title;
  for (const path of paths) list.append(Object.assign(document.createElement('li'), { textContent: path }));
  details.append(summary, list);
  return details;
}
