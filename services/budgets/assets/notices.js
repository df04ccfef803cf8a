// Notices above a page, and their buttons.

/**
 * @param {'good' | 'bad'} tone
 * @param {string} text
 */
export function say(tone, text) {
  document.querySelector('[data-sent]')?.remove();
  const box = notice(tone, text, '');
  box.setAttribute('data-sent', '');
  putOnTop(box);
}

/**
 * @param {string} tone
 * @param {string} title
 * @param {string} text
 */
export function notice(tone, title, text) {
  const box = document.createElement('div');
  box.className = `notice ${tone}`;
  box.setAttribute('role', 'status');
  const inner = document.createElement('div');
  const heading = document.createElement('strong');
  heading.textContent = title;
  inner.append(heading, text);
  box.append(inner);
  return box;
}

/** @param {HTMLElement} box */
export function putOnTop(box) {
  const head = document.querySelector('main > .head');
  if (head) head.after(box);
  else document.querySelector('main')?.prepend(box);
}

/**
 * @param {string} text
 * @param {() => Promise<void>} act
 */
export function button(text, act) {
  const element = document.createElement('button');
  element.type = 'button';
  element.className = 'quiet small';
  element.textContent = text;
  element.addEventListener('click', () => void act());
  return element;
}
