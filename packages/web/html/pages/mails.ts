import { AppError, isFromThisMachine } from '@octavo/core';
import { listSavedMails, readSavedMail, type SavedMail } from '@octavo/mail';
import { card, empty, facts, linkButton } from '../components/blocks.ts';
import { table } from '../components/table.ts';
import { time } from '../format.ts';
import { type Content, type Html, html } from '../html.ts';
import { type Frame, layout } from '../layout.ts';
import type { PageRoutes } from './pages.ts';
import type { Visit } from './visit.ts';

/** Addresses of the pages. */
export const mailPaths = { mails: '/mails', mail: '/mails/:id' } as const;

/** Link to the list, for the navigation. */
export const mailsLink = { href: mailPaths.mails, label: 'Mails', icon: 'inbox' } as const;

export interface MailPageOptions<T> {
  /** The folder of `openFolderMailer`. */
  readonly folder: string;
  frameOf(visit: Visit<T>): Frame | Promise<Frame>;
  /** A sentence for who sees no mails yet, and where it leads. */
  readonly hint: { readonly text: string; readonly href: string; readonly label: string };
}

const lead =
  'There is no mail server, so mails are saved here instead of being sent. This page does not exist in production.';
const url = /(https?:\/\/\S+)/;

/**
 * Shows the mails in the folder that they are saved to instead of being sent. Never in production, and only to requests of this machine: they open every
 * account, and a page of another site can give its own name our address (DNS rebinding).
 */
export function addMailPages<T>(routes: PageRoutes<T>, options: MailPageOptions<T>): void {
  const { folder, frameOf, hint } = options;
  routes.get(mailPaths.mails, { access: fromThisMachine }, async (visit: Visit<T>) =>
    mailsPage(await frameOf(visit), await listSavedMails(folder), hint),
  );
  routes.get(mailPaths.mail, { access: fromThisMachine }, async (visit: Visit<T>) => {
    const { id } = visit.request.params as { id: string };
    const mail = await readSavedMail(folder, id);
    if (!mail) throw new AppError('not_found', 'This mail does not exist.');
    return mailPage(await frameOf(visit), mail);
  });
}

function fromThisMachine<T>(visit: Visit<T>): Visit<T> {
  if (isFromThisMachine(visit.request.headers)) return visit;
  throw new AppError('not_found', 'Mails are shown only at localhost, and never through a proxy.');
}

/** Hint that leads to the mail that was just requested. */
export const mailsHint: Content = html`<p class="small">There is no mail server: find the mail in <a href="${mailPaths.mails}">Mails</a>.</p>`;

function mailsPage(
  frame: Frame,
  mails: readonly SavedMail[],
  { text, href, label }: MailPageOptions<unknown>['hint'],
): string {
  const main =
    mails.length === 0
      ? empty({
          icon: 'inbox',
          title: 'No mails yet',
          text,
          actions: linkButton(href, label),
        })
      : card(undefined, mailTable(mails));
  return layout(frame, { title: 'Mails', lead, main });
}

function mailTable(mails: readonly SavedMail[]): Content {
  return table<SavedMail>({
    caption: 'Mails, newest first',
    columns: [
      {
        header: 'Subject',
        kind: 'main',
        cell: ({ id, subject }) =>
          html`<a href="${mailPaths.mail.replace(':id', encodeURIComponent(id))}">${subject || 'No subject'}</a>`,
      },
      { header: 'To', kind: 'fit', cell: ({ to }) => to },
      { header: 'Written', kind: 'fit', cell: ({ date }) => time(date.getTime()) },
    ],
    rows: mails,
  });
}

function mailPage(frame: Frame, mail: SavedMail): string {
  return layout(frame, {
    title: mail.subject,
    parent: { href: mailPaths.mails, label: 'Mails' },
    main: mailView(mail),
  });
}

/** A mail as a page shows it: sender and recipient after `further` facts, and the text with its links. */
export function mailView(
  { from, to, date, text }: SavedMail,
  further: readonly (readonly [string, Content])[] = [],
): Html {
  const about = facts([...further, ['From', from], ['To', to], ['Written', time(date.getTime())]]);
  const paragraphs = html`<div class="stack">${text.split(/\n\s*\n/).map(paragraph)}</div>`;
  return html`<div class="stack">${card(undefined, about)}${card('Text', paragraphs)}</div>`;
}

function paragraph(text: string): Content {
  const parts = text.split(url);
  return html`<p class="wrap">${parts.map((part) => (url.test(part) ? html`<a href="${part}">${part}</a>` : part))}</p>`;
}
