import { attributes, type Content, type Html, html } from '../html.ts';
import { icon } from '../icons.ts';

export interface Column<Row> {
  readonly header: string;
  readonly cell: (row: Row) => Content;
  /**
   * `main` takes the remaining width and is the title of the card on a phone, `number` aligns digits, `fit` does not wrap,
   * `select` holds a checkbox.
   */
  readonly kind?: 'main' | 'number' | 'fit' | 'row-actions' | 'select';
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
}): Html {
  const { caption, columns, rows, isSmall, selection } = options;
  return html`<table class="table${isSmall ? '' : ' cards'}"><caption class="hidden">${caption}</caption>
<thead><tr>${selection && selectAll}${columns.map(head)}</tr></thead>
<tbody>${rows.map(
    (row) =>
      html`<tr>${selection && checkboxOf(selection, row)}${columns.map((column) => cell(column, row))}</tr>
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
  return html`<th scope="col"${attributes({ class: kind, 'aria-sort': sort })}>${content}</th>`;
}

function cell<Row>(column: Column<Row>, row: Row): Html {
  const content = html`${column.cell(row)}`;
  if (String(content) === '') return html`<td></td>`;
  const isLabelled = !['row-actions', 'main', 'select'].includes(column.kind ?? '');
  const label = isLabelled ? column.header : undefined;
  return html`<td${attributes({ class: column.kind, 'data-label': label })}>${content}</td>`;
}
