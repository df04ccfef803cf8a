// Shows times in the reader's language and time zone; `title` has the exact time.
const format = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });

for (const element of document.querySelectorAll('time[datetime]')) localise(element);

/** @param {Element} element */
function localise(element) {
  const instant = new Date(element.getAttribute('datetime') ?? '');
  if (!Number.isNaN(instant.getTime())) element.textContent = format.format(instant);
}
