/**
 * Lets people drop files anywhere on a page. The form has the class `over` meanwhile.
 * @param {HTMLElement} form
 * @param {(files: FileList) => void} take
 */
export function acceptDrops(form, take) {
  /** @param {DragEvent} event */
  const filesOf = ({ dataTransfer }) =>
    dataTransfer?.types.includes('Files') ? dataTransfer.files : undefined;
  window.addEventListener('dragover', (event) => {
    if (!filesOf(event)) return;
    // Otherwise the browser would leave the page to show the file.
    event.preventDefault();
    form.classList.add('over');
  });
  window.addEventListener('dragleave', (event) => {
    if (event.relatedTarget === null) form.classList.remove('over');
  });
  window.addEventListener('drop', (event) => {
    form.classList.remove('over');
    const files = filesOf(event);
    if (!files) return;
    event.preventDefault();
    take(files);
  });
}
