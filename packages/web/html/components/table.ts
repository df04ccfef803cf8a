import { attributes, type Content, type Html, html } from '../html.ts';
import { icon } from '../icons.ts';

export interface Column<Row> {
  readonly header: string;
  readonly cell: (row: Row) => Content;
  /**
   * `main` takes the remaining width and is the title of the card on a phone, `number` aligns digits, `fit` does not wrap, `plain` neither,
   * and needs no label on a phone; `select` holds a checkbox. `amount` and `count` are the figure of a row: on a phone, beside its title;
   * an amount without its label, a count in front of it, such as “12 votes”.
   */
  readonly kind?: 'main' | 'number' | 'amount' | 'count' | 'fit' | 'plain' | 'row-actions' | 'select';
  /** The link in the header, for columns that sort. */
  readonly sortHref?: string;
  readonly sorted?: 'asc' | 'desc' | undefined;
}

/** A checkbox in front of each row, for a form around the table. */
export interface Selection<Row> {
  /** The name of the field. */
  readonly name: string;
  readonly value: (row: Row) => string | number;
  /** Name of the row for screen readers: `“Fog over the harbor”`. */
  readonly label: (row: Row) => string;
}

/** A table with a caption for screen readers and a sticky header. On a phone, each row is a card, and still a row for screen readers. */
export function table<Row>(options: {
  caption: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  /** Few short columns, which fit on a phone without cards. */
  isSmall?: boolean;
  selection?: Selection<Row> | undefined;
  /** Name of a row in addresses: a redirect to `#name` shows the row that has just changed. */
  id?: (row: Row) => string;
}): Html {
  const { caption, columns, rows, isSmall, selection, id } = options;
  return html`<table class="table${isSmall ? '' : ' cards'}"><caption class="hidden">${caption}</caption>
<thead><tr>${selection && selectAll}${columns.map(head)}</tr></thead>
<tbody>${rows.map(
    (row) =>
      html`<tr${attributes({ id: id?.(row) })}>${selection && checkboxOf(selection, row)}${columns.map((column) => cell(column, row))}</tr>
`,
  )}</tbody></table>`;
}

// Only a script can select all, so `select.js` shows it.
const selectAll = html`<th scope="col" class="select"><span class="hidden">Select</span>
<input type="checkbox" data-select-all hidden aria-label="Select all on this page"></th>`;

function checkboxOf<Row>({ name, value, label }: Selection<Row>, row: Row): Html {
  return html`<td class="select"><input type="checkbox" name="${name}" value="${value(row)}" aria-label="Select ${label(row)}"></td>`;
}

function head<Row>(column: Column<Row>): Html {
  const { sorted, sortHref, kind } = column;
  const label =
    kind === 'row-actions' || kind === 'select'
      ? html`<span class="hidden">${column.header}</span>`
      : column.header;
  const sort = sorted && (sorted === 'asc' ? 'ascending' : 'descending');
  const arrow = sorted && icon(sorted === 'asc' ? 'up' : 'down');
  const content = sortHref ? html`<a href="${sortHref}">${label}${arrow}</a>` : label;
  return html`<th scope="col"${attributes({ class: kind && (classes[kind] ?? kind), 'aria-sort': sort })}>${content}</th>`;
}

function cell<Row>(column: Column<Row>, row: Row): Html {
  const content = html`${column.cell(row)}`;
  if (String(content) === '') return html`<td></td>`;
  const { kind = '', header } = column;
  const isLabelled = !['row-actions', 'main', 'amount', 'plain', 'select'].includes(kind);
  return html`<td${attributes({ class: classes[kind] ?? column.kind, 'data-label': isLabelled && header })}>${content}</td>`;
}

const classes: Readonly<Record<string, string>> = {
  amount: 'number amount',
  count: 'number amount',
  plain: 'fit',
};

/** Actions of a row behind a button, which shows up when the pointer or the focus is in the row. */
export function rowMenu(
  name: string,
  links: readonly { href: string; label: string; asks?: boolean }[],
): Html {
  return html`<details class="menu"><summary title="Actions">${icon('more')}<span class="hidden">Actions for ${name}</span></summary>
<div>${links.map(({ href, label, asks }) => html`<a href="${href}"${attributes({ 'data-dialog': asks })}>${label}<span class="hidden"> ${name}</span></a>`)}</div></details>`;
}
