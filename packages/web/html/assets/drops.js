/**
 * Lets people drop files anywhere on a page, for as long as the form is part of it. The form has the class `over` meanwhile.
 * @param {HTMLElement} form
 * @param {(files: FileList) => void} take
 */
export function acceptDrops(form, take) {
  const gone = new AbortController();
  const { signal } = gone;
  document.addEventListener('contentchange', () => form.isConnected || gone.abort(), { signal });
  /** @param {DragEvent} event */
  const filesOf = ({ dataTransfer }) =>
    dataTransfer?.types.includes('Files') ? dataTransfer.files : undefined;
  const over = (/** @type {DragEvent} */ event) => {
    if (!filesOf(event)) return;
    // Otherwise the browser would leave the page to show the file.
    event.preventDefault();
    form.classList.add('over');
  };
  const leave = (/** @type {DragEvent} */ event) => {
    if (event.relatedTarget === null) form.classList.remove('over');
  };
  const drop = (/** @type {DragEvent} */ event) => {
    form.classList.remove('over');
    const files = filesOf(event);
    if (!files) return;
    event.preventDefault();
    take(files);
  };
  window.addEventListener('dragover', over, { signal });
  window.addEventListener('dragleave', leave, { signal });
  window.addEventListener('drop', drop, { signal });
}
