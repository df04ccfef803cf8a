import { formatNumber } from '../format.ts';
import { attributes, type Content, type Html, html } from '../html.ts';

/**
 * The position of a page in a list, with links to the previous and the next one, and to other page sizes. Empty if everything is
 * on one page of any size.
 */
export function pager(options: {
  page: number;
  pageSize: number;
  total: number;
  /** True if there are more than `total`, and the exact number is unknown. */
  isMore?: boolean;
  /** The address of a page by its number, from 1. */
  href: (page: number) => string;
  /** The page sizes to choose from, and the address of each. */
  sizes?: { readonly choices: readonly number[]; readonly href: (pageSize: number) => string };
}): Content {
  const { page, pageSize, total, isMore = false, href, sizes } = options;
  const pages = Math.ceil(total / pageSize);
  const isWhole = total <= Math.min(pageSize, ...(sizes?.choices ?? []));
  if (page === 1 && isWhole && !isMore) return undefined;
  const from = (page - 1) * pageSize + 1;
  const to = Math.min(page * pageSize, total);
  const range = page > pages ? 'None' : `${formatNumber(from)}–${formatNumber(to)}`;
  return html`<nav class="pager" aria-label="Pages"><span>${range} of ${isMore && 'more than '}${formatNumber(total)}${sizes && sizeLinks(sizes, pageSize)}</span>
<span class="actions">${step('First', page > 1 && href(1))}${step('Previous', page > 1 && href(Math.min(page - 1, Math.max(pages, 1))))}
${step('Next', (page < pages || isMore) && href(page + 1))}${!isMore && step('Last', page !== pages && pages > 0 && href(pages))}</span></nav>`;
}

function sizeLinks(
  { choices, href }: { readonly choices: readonly number[]; readonly href: (pageSize: number) => string },
  current: number,
): Html {
  return html`<span class="sizes"><span class="muted">Per page</span>${choices.map(
    (size) =>
      html`<a href="${href(size)}"${attributes({ 'aria-current': size === current && 'true' })}>${size}</a>`,
  )}</span>`;
}

/** The page that `?page=` of a query, or another parameter, asks for: from 1 to a billion, the first one if it is no number. */
export function pageNumber(query: unknown, name = 'page'): number {
  const given = [(query as Readonly<Record<string, unknown>>)[name]].flat().at(-1);
  const isNumber = typeof given === 'string' && /^\d+$/.test(given);
  return isNumber ? Math.min(Math.max(1, Number(given)), 1e9) : 1;
}

function step(label: string, href: string | false): Html {
  return href === false
    ? html`<a class="button secondary" aria-disabled="true">${label}</a>`
    : html`<a class="button secondary" href="${href}">${label}</a>`;
}
