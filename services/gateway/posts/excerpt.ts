import { type Content, html } from '#kit/html/html.ts';

const excerptCharacters = 80;
const leadCharacters = 30;

/** One line of a text: its start, or the part around the first match of a search, with the match marked. */
export function excerpt(text: string, search: string | undefined): Content {
  const line = text.slice(0, 20_000).replace(/\s+/gu, ' ').trim();
  const lower = line.toLowerCase();
  // Some letters are longer in lower case. Then positions in both texts differ, and nothing is marked.
  const at = search && lower.length === line.length ? lower.indexOf(search.toLowerCase()) : -1;
  if (!search || at === -1) return truncate(line, excerptCharacters);
  const start = at > excerptCharacters / 2 ? at - leadCharacters : 0;
  const end = at + search.length;
  return html`${start > 0 && '…'}${withoutHalves(line.slice(start, at))}<mark>${line.slice(at, end)}</mark>${truncate(line.slice(end), excerptCharacters + start - end)}`;
}

/** The start of a text, with an ellipsis if it is longer. */
export function truncate(text: string, length: number): string {
  return text.length > length ? `${withoutHalves(text.slice(0, Math.max(length, 0)))}…` : text;
}

/** Without half of a surrogate pair that a cut may leave at either end. */
function withoutHalves(text: string): string {
  return text.replace(/^[\uDC00-\uDFFF]|[\uD800-\uDBFF]$/g, '');
}
