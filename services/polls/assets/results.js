// Updates the results while they are watched.
const section = document.querySelector('[data-results]');
const address = section?.getAttribute('data-results');
const number = new Intl.NumberFormat('en');
const quietMs = 10_000;
let isTelling = false;

if (section && address) watch(section, address);

/**
 * @param {Element} results
 * @param {string} url
 */
function watch(results, url) {
  const live = results.querySelector('[data-live]');
  const source = new EventSource(url);
  source.addEventListener('open', () => live?.removeAttribute('hidden'));
  source.addEventListener('error', () => live?.setAttribute('hidden', ''));
  source.addEventListener('message', (event) => show(results, JSON.parse(event.data)));
  // A page in the browser's cache must not hold a connection.
  window.addEventListener('pagehide', () => source.close());
}

/**
 * @param {Element} results
 * @param {{ total: number, choices: { choice: number, votes: number, percent: number }[] }} counts
 */
function show(results, { total, choices }) {
  setText(document, '[data-total]', number.format(total));
  setText(document, '[data-voters]', counted(total, 'voter'));
  for (const { choice, votes, percent } of choices) {
    const share = `${percent.toFixed(1)}%`;
    setText(results, `[data-share="${choice}"] [data-share-text]`, counted(votes, 'vote'));
    setText(results, `[data-share="${choice}"] [data-share-percent]`, share);
    setText(results, `[data-value="${choice}"]`, number.format(votes));
    setText(results, `[data-percent="${choice}"]`, share);
    results.querySelector(`[data-share="${choice}"] rect`)?.setAttribute('width', `${percent}%`);
  }
  sort(results, new Map(choices.map(({ choice, votes }) => [String(choice), votes])));
  // Screen readers hear the last state, not each vote.
  if (!isTelling) setTimeout(() => tell(results), quietMs);
  isTelling = true;
}

/**
 * Keeps the choices with the most votes first and marked, where the page shows them so.
 * @param {Element} results
 * @param {Map<string, number>} votes
 */
function sort(results, votes) {
  const sorted = results.querySelector('[data-sorted]');
  if (!sorted) return;
  const most = Math.max(...votes.values(), 1);
  /** @param {Element} share */
  const votesOf = (share) => votes.get(share.getAttribute('data-share') ?? '') ?? 0;
  const shares = [...sorted.querySelectorAll('[data-share]')];
  for (const share of shares)
    share.querySelector('[data-leads]')?.toggleAttribute('hidden', votesOf(share) < most);
  const ordered = shares.toSorted((one, other) => votesOf(other) - votesOf(one));
  if (ordered.some((share, index) => share !== shares[index])) shares[0]?.parentElement?.append(...ordered);
}

/** @param {Element} results */
function tell(results) {
  isTelling = false;
  const shares = [...results.querySelectorAll('[data-share]')].map((share) => {
    const label = share.querySelector('[data-share-label]')?.textContent?.trim();
    return `${label} ${share.querySelector('[data-share-percent]')?.textContent}`;
  });
  setText(results, '[data-told]', `Results so far: ${shares.join(', ')}.`);
}

/**
 * @param {number} count
 * @param {string} noun
 */
function counted(count, noun) {
  return `${number.format(count)} ${count === 1 ? noun : `${noun}s`}`;
}

/**
 * @param {ParentNode} results
 * @param {string} selector
 * @param {string} text
 */
function setText(results, selector, text) {
  const element = results.querySelector(selector);
  if (element && element.textContent !== text) element.textContent = text;
}
