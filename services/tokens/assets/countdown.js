// Counts down to the expiry of the access token. The server says how much time is left, so the clock of the browser does not matter.
for (const element of document.querySelectorAll('[data-countdown]')) {
  if (element instanceof HTMLElement) countDown(element);
}

/** @param {HTMLElement} element */
function countDown(element) {
  const endMs = performance.now() + Number(element.dataset.countdown) * 1000;
  const output = element.querySelector('[data-countdown-left]');
  const bar = element.querySelector('progress');
  const timer = setInterval(show, 1000);
  show();

  function show() {
    const left = Math.max(0, Math.round((endMs - performance.now()) / 1000));
    if (output)
      output.textContent = left > 0 ? `${format(left)} left` : 'expired; renewed at the next request';
    if (bar) bar.value = left;
    if (left === 0) clearInterval(timer);
  }
}

/** @param {number} seconds */
function format(seconds) {
  const minutes = Math.floor(seconds / 60);
  const rest = `${String(seconds % 60).padStart(minutes > 0 ? 2 : 1, '0')} s`;
  return minutes > 0 ? `${minutes} min ${rest}` : rest;
}
