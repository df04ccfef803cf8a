// Offers to fill the screen where the browser can.
const button = document.querySelector('[data-fullscreen]');
if (button instanceof HTMLButtonElement && document.fullscreenEnabled) {
  button.hidden = false;
  button.addEventListener('click', () => {
    const change = document.fullscreenElement
      ? document.exitFullscreen()
      : document.documentElement.requestFullscreen();
    // A browser may refuse it at any time.
    change.catch(() => undefined);
  });
}
