import {
  attributes,
  type Frame,
  field,
  type Html,
  html,
  layout,
  linkButton,
  single,
  time,
} from '@octavo/web/html';
import { keepActions } from '@octavo/web/pages';
import { pageRoutes, pathOf } from '../../routes.ts';
import type { Session } from '../../sessions/index.ts';
import type { SharedTurn, Snapshot } from '../../sharing/index.ts';
import { proseOf } from '../views-answer.ts';

/** The page where a chat is shared, or its link is copied and ended. */
export function sharePage(
  frame: Frame,
  { id, title }: Session,
  share: { readonly url: string; readonly expiresAtMs: number } | undefined,
): string {
  const chat = pathOf(pageRoutes.chat, id);
  const form = (content: Html) =>
    html`<form method="post" action="${pathOf(pageRoutes.shareChat, id)}">${frame.csrfField}<div class="actions">${content}</div></form>`;
  const card = share
    ? html`${field({
        name: 'link',
        label: 'Link to this chat',
        value: share.url,
        help: html`Whoever has it reads this chat as it was when you shared it, until ${time(share.expiresAtMs)}. Later questions are not shown.`,
        attributes: { readonly: true },
      })}${keepActions({ text: share.url, what: 'the link' })}${form(
        html`${linkButton(share.url, 'Open the page')}<button class="danger" name="deed" value="end">End sharing</button>`,
      )}`
    : html`<p>Make a link to this chat as it is now. Whoever has it reads, for 30 days and without signing in:</p>
<ul><li>your questions and the answers</li><li>the sentences that the answers quote from documents</li></ul>
<p>Titles, names and other passages of documents are not shown, nor are later questions. The link ends when you end it, when you delete or clear the chat, or when a document that it quotes is deleted or made private.</p>
${form(html`${linkButton(chat, 'Cancel')}<button name="deed" value="share">Make a link</button>`)}`;
  return layout(frame, {
    title: 'Share chat',
    parent: { href: chat, label: title },
    styles: ['chat.css'],
    modules: ['keep.js'],
    main: html`<section class="card form">${card}</section>`,
  });
}

/** A shared chat as strangers read it. */
export function sharedPage(
  frame: Frame,
  { snapshot, expiresAtMs }: { readonly snapshot: Snapshot; readonly expiresAtMs: number },
): string {
  return single(frame, {
    title: snapshot.title,
    lead: html`A shared chat, until ${time(expiresAtMs)}. Its quotes are from documents that are not shared.`,
    styles: ['chat.css'],
    main: html`<div class="turns shared">${snapshot.turns.map(turnView)}</div>`,
  });
}

function turnView(
  { question, text, isWritten, language, unsupported, quotes }: SharedTurn,
  at: number,
): Html {
  const quoteId = (index: string | number) => `quote-${at + 1}-${index}`;
  const isQuoted = (marker: string) => quotes.some(({ index }) => String(index) === marker);
  const markerView = ({ marker }: { readonly marker: string }) =>
    isQuoted(marker)
      ? html`<a class="cite" href="#${quoteId(marker)}" aria-label="Quote ${marker}">${marker}</a>`
      : html``;
  const prose = proseOf(text, { isWritten, unsupported, markerView });
  return html`<section class="turn"><h2 class="question">${question}</h2>
<article class="answer">${text !== '' && html`<div class="prose${isWritten ? ' markdown' : ''}" lang="${language}">${prose}</div>`}
${
  quotes.length > 0 &&
  html`<ol class="passages" aria-label="Quotes">${quotes.map(({ index, text: quote }, place) => {
    const isFirst = quotes[place - 1]?.index !== index;
    return html`<li value="${index}"${attributes({ id: isFirst && quoteId(index) })}><blockquote><b>${index}</b> ${quote}</blockquote></li>`;
  })}</ol>`
}</article></section>`;
}
