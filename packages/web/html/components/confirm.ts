import { type Content, type Html, html } from '../html.ts';
import { notice } from './blocks.ts';

/**
 * Asks before something is done that cannot be undone: what will be lost, a way back that has the focus, and the button. It is
 * the content of a page; `overlays.js` shows it as a dialog for links with `data-dialog`.
 */
export function confirm(options: {
  /** Names what will be lost: "Delete “Fog”?". */
  title: string;
  text: Content;
  /** Address to which the form is sent. */
  action: string;
  csrfField: Html;
  /** Further fields, such as a checkbox. */
  fields?: Content;
  problem?: string | undefined;
  /** The label of the button: "Delete post". */
  deed: string;
  cancelHref: string;
}): Html {
  const { title, text, action, csrfField, fields, problem, deed, cancelHref } = options;
  return html`<div class="card form"><form class="confirm" method="post" action="${action}" data-dialog-content>${csrfField}
<h2 id="confirm-title">${title}</h2><p>${text}</p>${problem && notice('bad', problem)}${fields}
<div class="actions"><a class="button secondary" href="${cancelHref}" data-close>Cancel</a><button class="danger">${deed}</button></div></form></div>`;
}
