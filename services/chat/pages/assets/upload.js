// Uploads files one by one, each with its progress, and lets people drop them. Without this module the form sends all at once.
import { acceptDrops } from './drops.js';
import { post, sizeProblem } from './uploads.js';

const form = /** @type {HTMLFormElement | null} */ (document.querySelector('[data-upload]'));
const input = /** @type {HTMLInputElement | null} */ (form?.elements.namedItem('file') ?? null);

if (form && input) {
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void uploadAll(form, [...(input.files ?? [])]);
    input.value = '';
  });
  form.querySelector('[data-drop-help]')?.removeAttribute('hidden');
  acceptDrops(form, (files) => void uploadAll(form, [...files]));
}

/**
 * @param {HTMLFormElement} form
 * @param {File[]} files
 */
export async function uploadAll(form, files) {
  const button = form.querySelector('button:not([type])');
  const lines = files.map((file) => ({ file, line: addLine(file.name) }));
  button?.setAttribute('disabled', '');
  for (const { file, line } of lines) {
    await upload(form, file, line);
    await refresh('[data-listing]', '[data-vectors]');
  }
  button?.removeAttribute('disabled');
}

/**
 * Adds a line that tells how far an upload is.
 * @param {string} name
 */
export function addLine(name) {
  const line = document.createElement('li');
  const label = document.createElement('span');
  const state = document.createElement('small');
  const bar = document.createElement('progress');
  bar.max = 1;
  bar.value = 0;
  bar.ariaLabel = name;
  label.textContent = name;
  state.textContent = 'waits';
  line.append(label, state, bar);
  document.querySelector('[data-uploads]')?.append(line);
  return {
    /**
     * @param {number} share
     * @param {string} [text] in place of the percentage
     */
    progress(share, text) {
      if (share < 1) bar.value = share;
      else bar.removeAttribute('value');
      state.textContent = text ?? (share < 1 ? `${Math.round(share * 100)}%` : 'is being read');
    },
    /**
     * @param {string} text
     * @param {'good' | 'bad'} tone
     */
    end(text, tone) {
      bar.remove();
      state.textContent = text;
      line.className = tone;
    },
  };
}

/**
 * @param {HTMLFormElement} form
 * @param {File} file
 * @param {ReturnType<typeof addLine>} line
 */
async function upload(form, file, line) {
  const problem = sizeProblem(form, [file]);
  if (problem) return line.end(problem, 'bad');
  const body = new FormData();
  body.append('file', file);
  const visibility = visibilityIn(form);
  if (visibility !== undefined) body.append('visibility', visibility);
  const options = { accept: 'application/json', move: (/** @type {number} */ share) => line.progress(share) };
  const request = await post(form.dataset.upload ?? '', body, options).catch(() => undefined);
  // Beside the button of a chat nothing says who sees an upload.
  const isTold = form.matches(':has(#field-visibility, [data-readers])');
  if (request) line.end(...resultOf(request, isTold));
  else line.end('could not be sent; try it again', 'bad');
}

/**
 * The readers that were chosen, if any.
 * @param {HTMLFormElement} form
 */
export function visibilityIn(form) {
  const shared = form.elements.namedItem('visibility');
  return shared instanceof HTMLInputElement && shared.checked ? shared.value : undefined;
}

/**
 * @param {XMLHttpRequest} request
 * @param {boolean} isTold whether the form says who sees it
 * @returns {[text: string, tone: 'good' | 'bad']}
 */
function resultOf({ responseText, status }, isTold) {
  try {
    const { documents, error } = JSON.parse(responseText);
    if (error) return [error.message, 'bad'];
    const [{ status, chunks, warnings, visibility }] = documents;
    if (status === 'duplicate') return ['is there already', 'good'];
    const passages = `${chunks} ${chunks === 1 ? 'passage' : 'passages'}`;
    const readers = isTold ? [] : [readersOf(visibility)];
    return [[passages, ...readers, ...warnings].join('. '), 'good'];
  } catch {
    return [`could not be stored (${status})`, 'bad'];
  }
}

/** @param {string} visibility */
function readersOf(visibility) {
  if (visibility === 'private') return 'Only you see it';
  return visibility === 'public' ? 'Everyone who is not signed in sees it' : 'Everyone sees it';
}

const followEveryMs = 5_000;

setInterval(() => {
  if (!document.hidden && document.querySelector('[data-vectors] progress')) void refresh('[data-vectors]');
}, followEveryMs);

/**
 * Shows parts of the page as they are now.
 * @param {string[]} parts
 */
export async function refresh(...parts) {
  const response = await fetch(location.href, { headers: { accept: 'text/html' } }).catch(() => undefined);
  if (!response?.ok) return;
  const fresh = new DOMParser().parseFromString(await response.text(), 'text/html');
  for (const part of parts) {
    const [old, drawn] = [document, fresh].map((page) => page.querySelector(part));
    if (!old || !drawn) continue;
    old.replaceWith(drawn);
    drawn.dispatchEvent(new CustomEvent('contentchange', { bubbles: true }));
  }
}
