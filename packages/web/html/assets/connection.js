// Shows after 200 ms that a page is loading, and says that there is no network before a form is lost to it.
const root = document.documentElement;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;

document.addEventListener('click', (event) => {
  const link = event.target instanceof Element ? event.target.closest('a[href]') : null;
  const isPlain = event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
  if (!(link instanceof HTMLAnchorElement) || event.defaultPrevented || !isPlain) return;
  const leaves = link.origin === location.origin && !link.hasAttribute('download') && link.target === '';
  if (leaves && link.pathname + link.search !== location.pathname + location.search) wait();
});

document.addEventListener('submit', (event) => {
  if (event.defaultPrevented) return;
  if (navigator.onLine) {
    wait();
    return;
  }
  event.preventDefault();
  showOffline();
});

// Also when the browser restores the page from its cache.
window.addEventListener('pageshow', () => {
  clearTimeout(timer);
  delete root.dataset.waiting;
});
window.addEventListener('offline', showOffline);
window.addEventListener('online', () => document.querySelector('.offline')?.remove());
if (!navigator.onLine) showOffline();

function wait() {
  clearTimeout(timer);
  timer = setTimeout(() => {
    root.dataset.waiting = '';
  }, 200);
}

function showOffline() {
  if (document.querySelector('.offline')) return;
  const banner = document.createElement('div');
  banner.className = 'notice warn offline';
  banner.setAttribute('role', 'alert');
  banner.textContent = 'You are offline. What you typed stays here; send it when you are back.';
  document.body.append(banner);
}
