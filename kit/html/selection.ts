import type { Content, Html } from './html.ts';
import { html } from './html.ts';

/**
 * A form around a table with a `selection`, with a bar for what to do with the selected rows. The form leads to a page that asks
 * first. With `select.js`, the bar shows how many rows are selected, and only if there are any.
 */
export function selectionForm(options: {
  /** The address of the page that gets the selected rows in its query. */
  action: string;
  table: Html;
  /** Buttons, each of which submits the form. */
  buttons: Content;
  /** Further fields, such as where to return to. */
  fields?: Content;
}): Html {
  return html`<form action="${options.action}" data-selection>${options.fields}${options.table}
<div class="selection-bar" data-selection-bar><span data-selection-count aria-live="polite"></span>
<span class="actions">${options.buttons}</span></div></form>`;
}
