// Moves the bars of reanalyses that are under way, and shows the page anew when one has ended.
const everyMs = 1_000;
const place = document.querySelector('[data-reanalyses="open"]');

if (place) setTimeout(look, everyMs);

async function look() {
  const page = await pageNow();
  if (page && isChanged(page)) location.reload();
  else setTimeout(look, everyMs);
}

/** @returns {Promise<Document | null>} */
async function pageNow() {
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
 * @returns {boolean} Whether other jobs are under way than those that are shown, or one of them does something else
 */
function isChanged(page) {
  const shown = [...document.querySelectorAll('[data-job]')];
  const now = [...page.querySelectorAll('[data-job]')];
  if (shown.map(nameOf).join() !== now.map(nameOf).join()) return true;
  for (const [index, job] of shown.entries()) update(job, now[index]);
  return false;
}

/** @param {Element} job */
function nameOf(job) {
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
