import { AppError } from '#kit/errors.ts';
import { card, empty, facts, linkButton } from '#kit/html/blocks.ts';
import { time } from '#kit/html/format.ts';
import { type Content, html } from '#kit/html/html.ts';
import { type Frame, layout } from '#kit/html/layout.ts';
import type { PageRoutes } from '#kit/html/pages.ts';
import { table } from '#kit/html/table.ts';
import { listSavedMails, readSavedMail, type SavedMail } from '#kit/mail/index.ts';
import { isLoopback } from '#kit/network.ts';
import type { PageContext, PageVisit } from '../pages.ts';
import { pageRoutes } from '../routes.ts';
import type { TokenPair } from '../sessions/index.ts';

const lead =
  'There is no mail server, so mails are saved here instead of being sent. This page does not exist in production.';
/** Host and port. Anything else, such as a user name, is no name of ours. */
const hostPattern = /^(\[[\d:.a-f]+\]|[\w.-]+)(?::\d+)?$/i;
const url = /(https?:\/\/\S+)/;

/**
 * Shows the mails in the folder that they are saved to instead of being sent. Never in production, and only under a loopback name: they open every
 * account, and a page of another site can give its own name our address (DNS rebinding).
 */
export function addMailPages(
  routes: PageRoutes<TokenPair>,
  { pages, folder }: { pages: PageContext; folder: string },
): void {
  routes.get(pageRoutes.mails, { access: underLoopbackName }, async (visit) =>
    mailsPage(pages.frameOf(visit), await listSavedMails(folder)),
  );
  routes.get(pageRoutes.mail, { access: underLoopbackName }, async (visit) => {
    const { id } = visit.request.params as { id: string };
    const mail = await readSavedMail(folder, id);
    if (!mail) throw new AppError('not_found', 'This mail does not exist.');
    return mailPage(pages.frameOf(visit), mail);
  });
}

function underLoopbackName(visit: PageVisit): PageVisit {
  const [, name = ''] = hostPattern.exec(visit.request.headers.host ?? '') ?? [];
  if (isLoopback(name.toLowerCase().replace(/[[\]]/g, ''))) return visit;
  throw new AppError('not_found', 'Mails are shown only at localhost.');
}

/** Where to find the mail that was just asked for. */
export const mailsHint: Content = html`<p class="small">There is no mail server: find the mail in <a href="${pageRoutes.mails}">Mails</a>.</p>`;

function mailsPage(frame: Frame, mails: readonly SavedMail[]): string {
  const main =
    mails.length === 0
      ? empty({
          icon: 'inbox',
          title: 'No mails yet',
          text: 'Ask for a sign-in link, and its mail appears here.',
          actions: linkButton(pageRoutes.home, 'Sign in'),
        })
      : card(undefined, mailTable(mails));
  return layout(frame, { title: 'Mails', lead, main });
}

function mailTable(mails: readonly SavedMail[]): Content {
  return table<SavedMail>({
    caption: 'Mails, newest first',
    columns: [
      {
        header: 'To',
        kind: 'main',
        cell: ({ id, to }) =>
          html`<a href="${pageRoutes.mail.replace(':id', encodeURIComponent(id))}">${to}</a>`,
      },
      { header: 'Subject', kind: 'fit', cell: ({ subject }) => subject },
      { header: 'Written', kind: 'fit', cell: ({ date }) => time(date.getTime()) },
    ],
    rows: mails,
  });
}

function mailPage(frame: Frame, mail: SavedMail): string {
  return layout(frame, {
    title: mail.subject,
    parent: { href: pageRoutes.mails, label: 'Mails' },
    main: html`<div class="stack">${card(
      undefined,
      facts([
        ['From', mail.from],
        ['To', mail.to],
        ['Written', time(mail.date.getTime())],
      ]),
    )}${card('Text', html`<div class="stack">${mail.text.split(/\n\s*\n/).map(paragraph)}</div>`)}</div>`,
  });
}

function paragraph(text: string): Content {
  const parts = text.split(url);
  return html`<p class="wrap">${parts.map((part) => (url.test(part) ? html`<a href="${part}">${part}</a>` : part))}</p>`;
}
