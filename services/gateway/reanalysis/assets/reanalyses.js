// Updates the progress bars of unfinished reanalyses, and reloads the page when one has finished.
const intervalMs = 1_000;
const section = document.querySelector('[data-reanalyses="open"]');

if (section) setTimeout(poll, intervalMs);

async function poll() {
  const page = await fetchPage();
  if (page && isChanged(page)) location.reload();
  else setTimeout(poll, intervalMs);
}

/** @returns {Promise<Document | null>} */
async function fetchPage() {
  if (document.hidden) return null;
  try {
    const response = await fetch(location.href);
    return response.ok ? new DOMParser().parseFromString(await response.text(), 'text/html') : null;
  } catch {
    return null;
  }
}

/**
 * @param {Document} page
 * @returns {boolean} Whether the unfinished jobs are others than the ones shown, or one has another state
 */
function isChanged(page) {
  const shown = [...document.querySelectorAll('[data-job]')];
  const now = [...page.querySelectorAll('[data-job]')];
  if (shown.map(stateOf).join() !== now.map(stateOf).join()) return true;
  for (const [index, job] of shown.entries()) update(job, now[index]);
  return false;
}

/** @param {Element} job */
function stateOf(job) {
  return `${job.getAttribute('data-job')} ${job.querySelector('[data-progress-label]')?.textContent}`;
}

/**
 * @param {Element} job
 * @param {Element | undefined} now
 */
function update(job, now) {
  const [detail, nextDetail] = [job, now].map((each) => each?.querySelector('[data-progress-detail]'));
  if (detail && nextDetail) detail.textContent = nextDetail.textContent;
  const [bar, nextBar] = [job, now].map((each) => each?.querySelector('progress'));
  if (bar && nextBar) bar.value = nextBar.value;
}
