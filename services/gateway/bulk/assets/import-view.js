// Shows an import in the browser while it runs and when it has ended.

/** @typedef {{ created: number, failed: number, errors: { row: number, message: string }[] }} Sum */
/** @typedef {ReturnType<typeof import('./failed-rows.js').createFailedRows>} FailedRows */

/**
 * Replaces the form by a progress bar.
 * @param {string} name of the file
 */
export function showRunning(name) {
  const template = /** @type {HTMLTemplateElement} */ (find(document, '[data-import-running]'));
  const card =
    /** @type {HTMLElement} */ (template.content.cloneNode(true)).firstElementChild ?? document.body;
  const form = /** @type {HTMLElement} */ (find(document, '[data-import] form').parentElement);
  const stop = /** @type {HTMLButtonElement} */ (find(card, '[data-import-cancel]'));
  const bar = /** @type {HTMLProgressElement} */ (find(card, 'progress'));
  find(document, '[data-import-outcome]').replaceChildren();
  find(card, '[data-progress-label]').textContent = `Importing ${name}`;
  form.hidden = true;
  form.after(card);
  let isStopped = false;
  stop.addEventListener('click', () => {
    isStopped = true;
    stop.disabled = true;
  });
  window.addEventListener('beforeunload', warn);
  return {
    isStopped: () => isStopped,
    /**
     * @param {number} share of the file, 0 to 1
     * @param {Sum} sum
     */
    move(share, { created, failed }) {
      bar.value = share * 100;
      const bad = failed > 0 ? `, ${grouped(failed)} not saved` : '';
      find(card, '[data-progress-detail]').textContent =
        `${Math.floor(share * 100)} %, ${grouped(created)} saved${bad}`;
    },
    /**
     * Waits until the visitor continues or the network is back (true), or until the visitor stops (false).
     * @param {string} problem
     * @returns {Promise<boolean>}
     */
    askToContinue: (problem) => ask(card, stop, problem),
    end() {
      window.removeEventListener('beforeunload', warn);
      card.remove();
      form.hidden = false;
    },
  };
}

/**
 * Shows the result.
 * @param {Sum} sum
 * @param {string} problem why the import ended early, or an empty string
 * @param {FailedRows} failedRows
 */
export function showOutcome({ created, failed, errors }, problem, failedRows) {
  const tone = problem ? 'bad' : failed > 0 ? 'warn' : 'good';
  const title = problem ? 'The import ended early' : failed > 0 ? 'Part of the file was imported' : '';
  const counts = `${count(created, 'post')} saved${failed > 0 ? `, ${count(failed, 'row')} not saved` : ''}.`;
  const link = element('a', 'Show the posts');
  link.setAttribute('href', '/');
  const box = element('div');
  if (title) box.append(element('strong', title), document.createElement('br'));
  box.append(`${problem ? `${problem} ` : ''}${counts} `, link);
  const notice = element('div', '', `notice ${tone}`);
  notice.append(box);
  find(document, '[data-import-outcome]').replaceChildren(
    notice,
    ...(errors.length > 0 ? [errorCard(errors, failedRows)] : []),
  );
}

/**
 * @param {{ row: number, message: string }[]} errors
 * @param {FailedRows} failedRows
 */
function errorCard(errors, failedRows) {
  const card = element('section', '', 'card');
  const table = element('table', '', 'table');
  const head = element('tr');
  head.append(element('th', 'Row', 'number'), element('th', 'What is wrong'));
  const thead = element('thead');
  thead.append(head);
  const body = element('tbody');
  for (const { row, message } of errors) {
    const line = element('tr');
    line.append(element('td', grouped(row), 'number'), element('td', message));
    body.append(line);
  }
  table.append(thead, body);
  card.append(element('h2', 'Rows that were not saved'), downloadLink(failedRows), table);
  return card;
}

/** @param {FailedRows} failedRows */
function downloadLink(failedRows) {
  const link = element('a', 'Download these rows', 'button secondary');
  link.setAttribute('href', URL.createObjectURL(new Blob([failedRows.text()], { type: 'text/csv' })));
  link.setAttribute('download', 'rows-not-saved.csv');
  const line = element('p', '', 'actions');
  const words = `${count(failedRows.count(), 'row')} as CSV, with what is wrong. Mend them, then import the file.`;
  line.append(link, element('span', words, 'small muted'));
  return line;
}

/**
 * @param {Element} card
 * @param {HTMLButtonElement} stop
 * @param {string} problem
 * @returns {Promise<boolean>}
 */
function ask(card, stop, problem) {
  const notice = element('div', '', 'notice warn');
  notice.setAttribute('role', 'alert');
  const resume = element('button', 'Continue', 'secondary');
  notice.append(element('div', `${problem} The posts that are saved stay saved.`), resume);
  card.prepend(notice);
  return new Promise((resolve) => {
    const settle = (/** @type {boolean} */ continues) => {
      notice.remove();
      window.removeEventListener('online', online);
      resolve(continues);
    };
    const online = () => settle(true);
    window.addEventListener('online', online);
    resume.addEventListener('click', online);
    stop.addEventListener('click', () => settle(false));
  });
}

/**
 * @param {string} name
 * @param {string} [text]
 * @param {string} [className]
 */
export function element(name, text = '', className = '') {
  const made = document.createElement(name);
  made.textContent = text;
  if (className) made.className = className;
  return made;
}

/**
 * @param {ParentNode} root
 * @param {string} selector
 */
function find(root, selector) {
  const found = root.querySelector(selector);
  if (!found) throw new Error(`the page has no ${selector}`);
  return found;
}

/** @param {number} value */
function grouped(value) {
  return value.toLocaleString('en');
}

/**
 * @param {number} value
 * @param {string} noun
 */
function count(value, noun) {
  return `${grouped(value)} ${noun}${value === 1 ? '' : 's'}`;
}

/** @param {BeforeUnloadEvent} event */
function warn(event) {
  event.preventDefault();
}
