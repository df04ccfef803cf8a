import { confirm, type Frame, html, layout } from '@octavo/web/html';
import { titleMax } from '../sessions/index.ts';

export interface DeleteView {
  /** Such as `chat`. */
  readonly what: string;
  readonly name: string;
  /** Text that names the deleted items. */
  readonly text: string;
  readonly action: string;
  /** Address to open without deleting. */
  readonly back: string;
}

/** Asks before something is deleted. */
export function deletePage(frame: Frame, { what, name, text, action, back }: DeleteView): string {
  const { csrfField } = frame;
  const question = confirm({
    title: `Delete “${name}”?`,
    text,
    action,
    csrfField,
    fields: html`<input type="hidden" name="back" value="${back}">`,
    deed: `Delete ${what}`,
    cancelHref: back,
  });
  return layout(frame, { title: `Delete ${what}`, styles: ['chat.css'], main: question });
}

/** Asks for another title of a chat. */
export function renamePage(
  frame: Frame,
  { title, action, back }: { title: string; action: string; back: string },
): string {
  return layout(frame, {
    title: 'Rename chat',
    styles: ['chat.css'],
    main: html`<div class="card form"><form class="confirm" method="post" action="${action}" data-dialog-content>${frame.csrfField}
<input type="hidden" name="back" value="${back}"><h2 id="rename-title">Rename chat</h2>
<div><label for="title">Title</label><input id="title" name="title" value="${title}" required maxlength="${titleMax}" autocomplete="off" autofocus></div>
<div class="actions"><a class="button secondary" href="${back}" data-close>Cancel</a><button>Rename</button></div></form></div>`,
  });
}
