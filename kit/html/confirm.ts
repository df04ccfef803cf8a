import { notice } from './blocks.ts';
import { type Content, type Html, html } from './html.ts';

/**
 * A question before something is done for good: what goes, a way back that has the focus first in line, and the deed. It is
 * the content of a page of its own; `overlays.js` shows it as a dialog to links that lead there with `data-dialog`.
 */
export function confirm(options: {
  /** Names what goes: "Delete “Fog”?". */
  title: string;
  text: Content;
  /** Where the form is sent. */
  action: string;
  csrfField: Html;
  /** Further fields, such as a box to tick. */
  fields?: Content;
  problem?: string | undefined;
  /** What the button does: "Delete post". */
  deed: string;
  cancelHref: string;
}): Html {
  const { title, text, action, csrfField, fields, problem, deed, cancelHref } = options;
  return html`<div class="card form"><form class="confirm" method="post" action="${action}" data-dialog-content>${csrfField}
<h2 id="confirm-title">${title}</h2><p>${text}</p>${problem && notice('bad', problem)}${fields}
<div class="actions"><a class="button secondary" href="${cancelHref}" data-close>Cancel</a><button class="danger">${deed}</button></div></form></div>`;
}
