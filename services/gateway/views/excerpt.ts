import { type Content, html } from '#kit/html/html.ts';

const lengthMax = 90;
const lead = 30;

/** One line out of a text: its start, or what surrounds the first place where the search is met, with that marked. */
export function excerpt(text: string, search: string | undefined): Content {
  const line = text.slice(0, 20_000).replace(/\s+/gu, ' ').trim();
  const lower = line.toLowerCase();
  // Some letters are longer in lower case: then a place in one text is none in the other, and nothing is marked.
  const at = search && lower.length === line.length ? lower.indexOf(search.toLowerCase()) : -1;
  if (!search || at === -1) return ended(line, lengthMax);
  const start = at > lengthMax / 2 ? at - lead : 0;
  const end = at + search.length;
  return html`${start > 0 && '…'}${whole(line.slice(start, at))}<mark>${line.slice(at, end)}</mark>${ended(line.slice(end), lengthMax + start - end)}`;
}

/** A title that fits a line of a list. */
export function headline(title: string): string {
  return ended(title, lengthMax);
}

function ended(text: string, length: number): string {
  return text.length > length ? `${whole(text.slice(0, Math.max(length, 0)))}…` : text;
}

/** Without the half of a surrogate pair that a cut may leave at either end. */
function whole(text: string): string {
  return text.replace(/^[\uDC00-\uDFFF]|[\uD800-\uDBFF]$/g, '');
}
