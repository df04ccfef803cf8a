// Shows times in the reader's language and time zone; `title` has the exact time. Days (`data-day`) are the same everywhere.
// Forms with days send that time zone.
const format = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });

for (const input of document.querySelectorAll('input[data-time-zone]')) {
  if (input instanceof HTMLInputElement) input.value = Intl.DateTimeFormat().resolvedOptions().timeZone;
}
localizeTimes(document);
// Other modules send it from an element whose content they replaced.
document.addEventListener('contentchange', (event) => {
  if (event.target instanceof Element) localizeTimes(event.target);
});

/** @param {ParentNode} parent */
function localizeTimes(parent) {
  for (const element of parent.querySelectorAll('time[datetime]:not([data-day])')) localizeTime(element);
}

/** @param {Element} element */
function localizeTime(element) {
  const instant = new Date(element.getAttribute('datetime') ?? '');
  if (!Number.isNaN(instant.getTime())) element.textContent = format.format(instant);
}
