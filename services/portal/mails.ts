import { resolve } from 'node:path';
import { AppError } from '@octavo/core';
import { listSavedMails, readSavedMail, type SavedMail } from '@octavo/mail';
import type { PageContent } from '@octavo/web/html';
import { type Content, card, empty, html, table, time } from '@octavo/web/html';
import { mailView } from '@octavo/web/pages';

/** Folders in which services save mails in place of sending them. */
export interface MailFolders {
  readonly dataFolder: string;
  /** Folder by service: inside of the data folder, such as `budgets-mails`, or anywhere else. It need not be there. */
  readonly byService: Readonly<Record<string, string>>;
  titleOf(service: string): string;
}

interface ServiceMail extends SavedMail {
  readonly service: string;
}

const shownMax = 100;
const lead =
  'There is no mail server, so services save their mails here instead of sending them. This page does not exist in production.';

/** The newest mails of all services. */
export async function mailsPage({ dataFolder, byService, titleOf }: MailFolders): Promise<PageContent> {
  const lists = await Promise.all(
    Object.entries(byService).map(async ([service, folder]) => {
      const mails = await listSavedMails(resolve(dataFolder, folder), shownMax);
      return mails.map((mail): ServiceMail => ({ ...mail, service }));
    }),
  );
  const mails = lists.flat().sort((one, other) => other.date.getTime() - one.date.getTime());
  const parent = { href: '/', label: 'Octavo' };
  if (mails.length === 0)
    return {
      title: 'Mails',
      lead,
      parent,
      main: empty({ icon: 'inbox', title: 'No mails yet', text: 'The mails of all services appear here.' }),
    };
  const rows = mails.slice(0, shownMax);
  return { title: 'Mails', lead, parent, main: card(undefined, mailTable(rows, titleOf)) };
}

function mailTable(rows: readonly ServiceMail[], titleOf: MailFolders['titleOf']): Content {
  return table<ServiceMail>({
    caption: 'Mails, newest first',
    columns: [
      {
        header: 'Subject',
        kind: 'main',
        cell: ({ service, id, subject }) =>
          html`<a href="/mails/${service}/${encodeURIComponent(id)}">${subject || 'No subject'}</a>`,
      },
      { header: 'To', kind: 'fit', cell: ({ to }) => to },
      { header: 'From', kind: 'fit', cell: ({ service }) => titleOf(service) },
      { header: 'Written', kind: 'fit', cell: ({ date }) => time(date.getTime()) },
    ],
    rows,
  });
}

/** One mail of a service. Throws `not_found`. */
export async function mailPage(
  { dataFolder, byService, titleOf }: MailFolders,
  { service, id }: { readonly service: string; readonly id: string },
): Promise<PageContent> {
  const folder = Object.hasOwn(byService, service) ? byService[service] : undefined;
  const mail = folder === undefined ? undefined : await readSavedMail(resolve(dataFolder, folder), id);
  if (!mail) throw new AppError('not_found', 'This mail does not exist.');
  return {
    title: mail.subject || 'No subject',
    parent: { href: '/mails', label: 'Mails' },
    main: mailView(mail, [['Service', titleOf(service)]]),
  };
}
