import type { Frame } from '@octavo/web/html';
import { badge, card, deviceOf, type Html, html, table, time } from '@octavo/web/html';
import type { PageRoutes } from '@octavo/web/pages';
import { type AccountCard, type PageContext, senderOf } from '../pages/pages.ts';
import { pageRoutes } from '../routes.ts';
import type { Method, Session, TokenPair } from './session.ts';
import type { Sessions } from './sessions.ts';

export function addSessionPages(
  routes: PageRoutes<TokenPair>,
  { pages, sessions }: { pages: PageContext; sessions: Sessions },
): void {
  routes.post(pageRoutes.signOut, { access: 'public' }, async (visit) => {
    if (visit.who) await sessions.revoke(visit.who.refresh_token);
    visit.signOut();
    return visit.redirect(pageRoutes.home, { tone: 'good', text: 'You are signed out.' });
  });
  // Errors of forms are shown at the address of the form, which people reload.
  for (const path of [pageRoutes.endSession, pageRoutes.endAllSessions]) {
    routes.get(path, { access: 'public' }, async (visit) => visit.redirect(pageRoutes.home));
  }
  routes.post(pageRoutes.endSession, { access: pages.signedIn }, async ({ visit, caller }) => {
    const id = visit.field('id');
    await sessions.revokeOne(caller, id);
    if (id === caller.session.id) visit.signOut();
    return visit.redirect(pageRoutes.home, { tone: 'good', text: 'The session has ended.' });
  });
  routes.post(pageRoutes.endAllSessions, { access: pages.signedIn }, async ({ visit, caller }) => {
    await sessions.revokeAll(caller, senderOf(visit));
    visit.signOut();
    return visit.redirect(pageRoutes.home, { tone: 'good', text: 'You are signed out everywhere.' });
  });
}

export function sessionsCard(sessions: Sessions): AccountCard {
  return async (frame, { caller }) => {
    const all = await sessions.of(caller);
    return card(
      'Sessions',
      html`<div class="stack">${sessionTable(frame, all, caller.session.id)}
<form method="post" action="${pageRoutes.endAllSessions}">${frame.csrfField}<button class="secondary">Sign out everywhere</button></form></div>`,
    );
  };
}

function sessionTable(frame: Frame, sessions: readonly Session[], currentId: string): Html {
  return table<Session>({
    caption: 'Sessions',
    columns: [
      {
        header: 'Device',
        kind: 'main',
        cell: ({ id, visitor }) =>
          html`<span title="${visitor.userAgent}">${deviceOf(visitor.userAgent)}</span> ${id === currentId && badge('good', 'this one')}`,
      },
      { header: 'Method', kind: 'fit', cell: ({ amr }) => methodName(amr) },
      { header: 'Address', kind: 'fit', cell: ({ visitor }) => visitor.address },
      { header: 'Signed in', kind: 'fit', cell: ({ authenticatedMs }) => time(authenticatedMs) },
      { header: 'Last used', kind: 'fit', cell: ({ lastUsedMs }) => time(lastUsedMs) },
      { header: 'End', kind: 'row-actions', cell: (session) => endForm(frame, session) },
    ],
    rows: sessions,
  });
}

function endForm(frame: Frame, { id, visitor }: Session): Html {
  return html`<form method="post" action="${pageRoutes.endSession}">${frame.csrfField}<input type="hidden" name="id" value="${id}">
<button class="quiet">End<span class="hidden"> ${deviceOf(visitor.userAgent)}</span></button></form>`;
}

function methodName(amr: readonly Method[]): string {
  if (amr.includes('hwk') || amr.includes('swk')) return 'Passkey';
  if (amr.includes('otp')) return 'Authenticator app';
  return amr.includes('recovery') ? 'Recovery code' : 'E-mail';
}
