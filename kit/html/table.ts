import { attributes, type Content, type Html, html } from './html.ts';
import { icon } from './icons.ts';

export interface Column<Row> {
  readonly header: string;
  readonly cell: (row: Row) => Content;
  /** `main` takes the remaining width and is the title of the card on a phone, `number` aligns digits, `fit` does not wrap. */
  readonly kind?: 'main' | 'number' | 'fit' | 'row-actions';
  /** The link in the header, for columns that sort. */
  readonly sortHref?: string;
  readonly sorted?: 'asc' | 'desc' | undefined;
}

/**
 * A table with a caption for screen readers and a sticky header. On a phone, each row is a card. The roles are explicit because a
 * row that is displayed as a card loses its implicit role.
 */
export function table<Row>(options: {
  caption: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  /** Few short columns, which fit on a phone without cards. */
  isSmall?: boolean;
}): Html {
  return html`<table class="table${options.isSmall ? '' : ' cards'}" role="table"><caption class="hidden">${options.caption}</caption>
<thead role="rowgroup"><tr role="row">${options.columns.map(head)}</tr></thead>
<tbody role="rowgroup">${options.rows.map(
    (row) => html`<tr role="row">${options.columns.map((column) => cell(column, row))}</tr>
`,
  )}</tbody></table>`;
}

function head<Row>(column: Column<Row>): Html {
  const { sorted, sortHref, kind } = column;
  const label = kind === 'row-actions' ? html`<span class="hidden">${column.header}</span>` : column.header;
  const sort = sorted && (sorted === 'asc' ? 'ascending' : 'descending');
  const arrow = sorted && icon(sorted === 'asc' ? 'up' : 'down');
  const content = sortHref ? html`<a href="${sortHref}">${label}${arrow}</a>` : label;
  return html`<th scope="col" role="columnheader"${attributes({ class: kind, 'aria-sort': sort })}>${content}</th>`;
}

function cell<Row>(column: Column<Row>, row: Row): Html {
  const content = html`${column.cell(row)}`;
  const isLabelled = column.kind !== 'row-actions' && column.kind !== 'main' && String(content) !== '';
  const label = isLabelled ? column.header : undefined;
  return html`<td role="cell"${attributes({ class: column.kind, 'data-label': label })}>${content}</td>`;
}
