import { card, empty, facts, linkButton } from '#kit/html/blocks.ts';
import { time } from '#kit/html/format.ts';
import { type Content, html } from '#kit/html/html.ts';
import { type Frame, layout } from '#kit/html/layout.ts';
import { table } from '#kit/html/table.ts';
import type { KeptMail } from '#kit/mail/index.ts';
import { pageRoutes } from '../routes.ts';

const lead =
  'Without a mail server, mails are kept here instead of being sent. There is no such page in production.';
const address = /(https?:\/\/\S+)/;

/** Where the mail is to be found that was just asked for. */
export function mailsHint({ mailFolder }: { mailFolder: string | undefined }): Content {
  if (mailFolder === undefined) return undefined;
  return html`<p class="small">No mail server is set up: the mail is among <a href="${pageRoutes.mails}">the mails kept here</a>.</p>`;
}

export function mailsPage(frame: Frame, mails: readonly KeptMail[]): string {
  const main =
    mails.length === 0
      ? empty({
          icon: 'inbox',
          title: 'No mails yet',
          text: 'Ask for a sign-in link, and the mail with it appears here.',
          actions: linkButton(pageRoutes.home, 'Sign in'),
        })
      : card(undefined, mailTable(mails));
  return layout(frame, { title: 'Mails', lead, main });
}

export function mailPage(frame: Frame, mail: KeptMail): string {
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

function mailTable(mails: readonly KeptMail[]): Content {
  return table<KeptMail>({
    caption: 'Mails, the newest first',
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

/** Addresses become links. */
function paragraph(text: string): Content {
  const parts = text.split(address);
  return html`<p class="wrap">${parts.map((part) => (address.test(part) ? html`<a href="${part}">${part}</a>` : part))}</p>`;
}
