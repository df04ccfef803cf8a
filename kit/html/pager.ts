import { formatNumber } from './format.ts';
import { type Content, type Html, html } from './html.ts';

/** The position of a page in a list, with links to the previous and the next one. Empty if everything is on one page. */
export function pager(options: {
  page: number;
  pageSize: number;
  total: number;
  /** The address of a page by its number, from 1. */
  href: (page: number) => string;
}): Content {
  const { page, pageSize, total, href } = options;
  const pages = Math.ceil(total / pageSize);
  if (pages <= 1 && page === 1) return undefined;
  const from = (page - 1) * pageSize + 1;
  const to = Math.min(page * pageSize, total);
  const range = page > pages ? 'None' : `${formatNumber(from)}–${formatNumber(to)}`;
  return html`<nav class="pager" aria-label="Pages"><span>${range} of ${formatNumber(total)}</span>
<span class="actions">${step('First', page > 1 && href(1))}${step('Previous', page > 1 && href(Math.min(page - 1, Math.max(pages, 1))))}
${step('Next', page < pages && href(page + 1))}${step('Last', page !== pages && pages > 0 && href(pages))}</span></nav>`;
}

function step(label: string, href: string | false): Html {
  return href === false
    ? html`<a class="button secondary" aria-disabled="true">${label}</a>`
    : html`<a class="button secondary" href="${href}">${label}</a>`;
}
