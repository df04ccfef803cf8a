import type { PageRoutes } from '#kit/html/pages.ts';
import type { Caller } from '../caller.ts';
import { isFresh } from '../enrolment.ts';
import { pageRoutes } from '../routes.ts';
import type { TokenPair } from '../session.ts';
import { accountPage, deletionPage } from '../views/account.ts';
import { checkMailPage, signInPage } from '../views/entry.ts';
import { mailsHint } from '../views/mails.ts';
import type { PageParts } from './parts.ts';
import { endedText, frameOf, type Reading, readerOf, senderOf, signedIn } from './reader.ts';

/** The page of whoever is signed in, their sessions, and how they leave. */
export function addAccountPages(routes: PageRoutes<TokenPair>, parts: PageParts): void {
  routes.get(pageRoutes.home, { access: 'public' }, async (visit) => {
    const reader = await readerOf(visit, parts);
    if (reader) return showAccount(visit, parts, reader);
    return signInPage(frameOf(visit, parts), { problem: visit.who && endedText });
  });
  addSessionForms(routes, parts);
  addVerification(routes, parts);
  addDeletion(routes, parts);
}

export async function showAccount(
  visit: Reading,
  parts: PageParts,
  reader: Caller,
  problem?: string,
): Promise<string> {
  const { accounts, passkeys, sessions, clock } = parts;
  const [factors, keys, accepted, all] = await Promise.all([
    accounts.factors(reader),
    passkeys.of(reader),
    passkeys.accepted(reader),
    sessions.of(reader),
  ]);
  return accountPage(frameOf(visit, parts, reader), {
    user: reader.user,
    isFresh: isFresh(reader, clock.now()),
    factors,
    passkeys: keys,
    accepted,
    sessions: all.map((each) => ({ ...each, isCurrent: each.id === reader.session.id })),
    problem,
  });
}

function addSessionForms(routes: PageRoutes<TokenPair>, parts: PageParts): void {
  const { sessions } = parts;
  for (const path of [pageRoutes.endSession, pageRoutes.endAllSessions, pageRoutes.verifyEmail]) {
    routes.get(path, { access: 'public' }, async (visit) => visit.redirect(pageRoutes.home));
  }
  routes.post(pageRoutes.endSession, { access: signedIn(parts) }, async ({ visit, reader }) => {
    const id = visit.field('id');
    await sessions.revokeOne(reader, id);
    if (id === reader.session.id) visit.signOut();
    return visit.redirect(pageRoutes.home, { tone: 'good', text: 'The session has ended.' });
  });
  routes.post(pageRoutes.endAllSessions, { access: signedIn(parts) }, async ({ visit, reader }) => {
    await sessions.revokeAll(reader, senderOf(visit, parts));
    visit.signOut();
    return visit.redirect(pageRoutes.home, { tone: 'good', text: 'You are signed out everywhere.' });
  });
}

function addVerification(routes: PageRoutes<TokenPair>, parts: PageParts): void {
  const { limits, magicLinks, linkSeconds } = parts;
  routes.post(pageRoutes.verifyEmail, { access: signedIn(parts) }, async ({ visit, reader }) => {
    const { email } = reader.user;
    await limits.sendMagic(visit.request, () =>
      magicLinks.request(email, { caller: reader, locale: senderOf(visit, parts).locale }),
    );
    return checkMailPage(frameOf(visit, parts), {
      email,
      minutes: Math.ceil(linkSeconds / 60),
      mails: mailsHint(parts),
    });
  });
}

function addDeletion(routes: PageRoutes<TokenPair>, parts: PageParts): void {
  const { accounts } = parts;
  routes.get(pageRoutes.deleteAccount, { access: signedIn(parts) }, async ({ visit, reader }) =>
    deletionPage(frameOf(visit, parts, reader), reader.user),
  );
  routes.post(pageRoutes.deleteAccount, { access: signedIn(parts) }, async ({ visit, reader }) => {
    await accounts.remove(reader, senderOf(visit, parts));
    visit.signOut();
    return visit.redirect(pageRoutes.home, { tone: 'good', text: 'The account is deleted.' });
  });
}
