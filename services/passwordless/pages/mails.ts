import { AppError } from '#kit/errors.ts';
import type { PageRoutes } from '#kit/html/pages.ts';
import { listKeptMails, readKeptMail } from '#kit/mail/index.ts';
import { pageRoutes } from '../routes.ts';
import type { TokenPair } from '../session.ts';
import { mailPage, mailsPage } from '../views/mails.ts';
import type { PageParts } from './parts.ts';
import { frameOf } from './reader.ts';

/** Pages to read mails in that were kept in a folder instead of being sent. Never in production: they open every account. */
export function addMailPages(routes: PageRoutes<TokenPair>, parts: PageParts): void {
  const { mailFolder: folder } = parts;
  if (folder === undefined) return;
  routes.get(pageRoutes.mails, { access: 'public' }, async (visit) =>
    mailsPage(frameOf(visit, parts), await listKeptMails(folder)),
  );

  routes.get(pageRoutes.mail, { access: 'public' }, async (visit) => {
    const { id } = visit.request.params as { id: string };
    const mail = await readKeptMail(folder, id);
    if (!mail) throw new AppError('not_found', 'This mail does not exist.');
    return mailPage(frameOf(visit, parts), mail);
  });
}
