// Shows notifications while the page is open: counts them, tells what happened, and loads the parts again that may have changed.
const counter = document.querySelector('[data-live]');
const shownMs = 8_000;
const shownMax = 3;

if (counter instanceof HTMLElement && counter.dataset.live) watch(counter, counter.dataset.live);

/**
 * @param {HTMLElement} unread
 * @param {string} url
 */
function watch(unread, url) {
  let lastSeq = Number(new URL(url, location.href).searchParams.get('after'));
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let refreshing;
  const source = new EventSource(url);
  source.addEventListener('message', (event) => {
    const { seq, title, message, isQuiet } = JSON.parse(event.data);
    // After a lost connection, those since the page was loaded come again.
    if (seq <= lastSeq) return;
    lastSeq = seq;
    // The reader chose not to be told of it; what it changed is shown.
    if (!isQuiet) {
      const count = Number(unread.dataset.unread) + 1;
      unread.dataset.unread = String(count);
      unread.textContent = String(count);
      tell(title, message);
    }
    clearTimeout(refreshing);
    refreshing = setTimeout(refresh, 300);
  });
  // A page in the browser's cache must not hold a connection.
  window.addEventListener('pagehide', () => source.close());
}

/**
 * @param {string} title
 * @param {string} message
 */
function tell(title, message) {
  const box = document.createElement('div');
  box.className = 'notice';
  const text = document.createElement('div');
  const heading = document.createElement('strong');
  heading.textContent = title;
  text.append(heading, message);
  box.append(text);
  const boxes = toasts();
  boxes.append(box);
  while (boxes.childElementCount > shownMax) boxes.firstElementChild?.remove();
  setTimeout(() => box.remove(), shownMs);
}

function toasts() {
  const known = document.querySelector('.toasts');
  if (known) return known;
  const region = document.createElement('div');
  region.className = 'toasts';
  region.setAttribute('role', 'status');
  document.body.append(region);
  return region;
}

/** Replaces the live parts of the page by what they are now, unless the reader is typing in one. */
async function refresh() {
  const regions = [...document.querySelectorAll('[data-live-region]')];
  if (regions.length === 0) return;
  try {
    const response = await fetch(location.href, { headers: { accept: 'text/html' } });
    if (!response.ok) return;
    const page = new DOMParser().parseFromString(await response.text(), 'text/html');
    for (const region of regions) {
      const name = region.getAttribute('data-live-region');
      const fresh = page.querySelector(`[data-live-region="${name}"]`);
      if (!fresh || region.contains(document.activeElement)) continue;
      const content = document.importNode(fresh, true);
      region.replaceWith(content);
      content.dispatchEvent(new Event('contentchange', { bubbles: true }));
    }
  } catch {
    // The next event tries again.
  }
}
