// Shows times in the reader's language and time zone; `title` has the exact time. Days (`data-day`) are the same everywhere.
// Forms with days send that time zone, and begin with that day (`data-today`). Controls of date and time show and take it too; what
// they send is in UTC.
const format = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });

for (const input of document.querySelectorAll('input[data-time-zone]')) {
  if (input instanceof HTMLInputElement) input.value = Intl.DateTimeFormat().resolvedOptions().timeZone;
}
// The default day is the reader's, which the server does not know.
for (const input of document.querySelectorAll('input[data-today]')) {
  if (input instanceof HTMLInputElement && input.value === input.defaultValue) input.defaultValue = today();
}
localizeTimes(document);
localizeControls(document);
// Other modules send it from an element whose content they replaced.
document.addEventListener('contentchange', (event) => {
  if (!(event.target instanceof Element)) return;
  localizeTimes(event.target);
  localizeControls(event.target);
});
document.addEventListener('formdata', ({ target, formData }) => {
  if (!(target instanceof HTMLFormElement)) return;
  for (const control of target.elements) {
    if (control instanceof HTMLInputElement && control.type === 'datetime-local' && control.name)
      formData.set(control.name, utcOf(control));
  }
});

function today() {
  const now = new Date();
  const [month, day] = [now.getMonth() + 1, now.getDate()].map((part) => String(part).padStart(2, '0'));
  return `${now.getFullYear()}-${month}-${day}`;
}

/** @param {ParentNode} parent */
function localizeTimes(parent) {
  for (const element of parent.querySelectorAll('time[datetime]:not([data-day])')) localizeTime(element);
}

/** @param {Element} element */
function localizeTime(element) {
  const exact = element.getAttribute('datetime') ?? '';
  const instant = new Date(exact);
  if (Number.isNaN(instant.getTime())) return;
  element.textContent = format.format(instant);
  element.setAttribute('title', exact);
}

/** @param {ParentNode} parent */
function localizeControls(parent) {
  for (const zone of parent.querySelectorAll('[data-zone]')) {
    const control = zone.previousElementSibling;
    if (!(control instanceof HTMLInputElement)) continue;
    zone.textContent = Intl.DateTimeFormat().resolvedOptions().timeZone.replaceAll('_', ' ');
    // A browser that loads the page again may have restored what was typed, which is local already.
    if (control.value === control.defaultValue) control.value = localOf(control.defaultValue);
  }
}

/**
 * A date and time of UTC, as a control has it, in the reader's time zone.
 * @param {string} utc
 */
function localOf(utc) {
  const instant = new Date(`${utc}Z`);
  if (Number.isNaN(instant.getTime())) return utc;
  const pad = (/** @type {number} */ number, length = 2) => String(number).padStart(length, '0');
  const day = `${pad(instant.getFullYear(), 4)}-${pad(instant.getMonth() + 1)}-${pad(instant.getDate())}`;
  const seconds = instant.getSeconds() > 0 ? `:${pad(instant.getSeconds())}` : '';
  return `${day}T${pad(instant.getHours())}:${pad(instant.getMinutes())}${seconds}`;
}

/**
 * Value that a control sends. An untouched control sends the value that the page had: an hour that comes twice a year would
 * else be the first of both.
 * @param {HTMLInputElement} control
 */
function utcOf({ value, defaultValue }) {
  if (value === localOf(defaultValue)) return defaultValue;
  const instant = new Date(value);
  if (Number.isNaN(instant.getTime())) return value;
  return instant.toISOString().slice(0, 19).replace(/:00$/, '');
}
