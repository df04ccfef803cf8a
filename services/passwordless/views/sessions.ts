import { badge, card } from '#kit/html/blocks.ts';
import { deviceOf } from '#kit/html/device.ts';
import { time } from '#kit/html/format.ts';
import { type Html, html } from '#kit/html/html.ts';
import type { Frame } from '#kit/html/layout.ts';
import { table } from '#kit/html/table.ts';
import { pageRoutes } from '../routes.ts';
import type { Method, Session } from '../session.ts';

export type SessionView = Session & { readonly isCurrent: boolean };

export function sessionsCard(frame: Frame, sessions: readonly SessionView[]): Html {
  return card(
    'Sessions',
    html`<div class="stack">${table<SessionView>({
      caption: 'Sessions',
      columns: [
        {
          header: 'Device',
          kind: 'main',
          cell: ({ visitor, isCurrent }) =>
            html`<span title="${visitor.userAgent}">${deviceOf(visitor.userAgent)}</span> ${isCurrent && badge('good', 'this one')}`,
        },
        { header: 'By', kind: 'fit', cell: ({ amr }) => wayOf(amr) },
        { header: 'Address', kind: 'fit', cell: ({ visitor }) => visitor.address },
        { header: 'Signed in', kind: 'fit', cell: ({ authenticatedMs }) => time(authenticatedMs) },
        { header: 'Last used', kind: 'fit', cell: ({ lastUsedMs }) => time(lastUsedMs) },
        { header: 'End', kind: 'row-actions', cell: (session) => endForm(frame, session) },
      ],
      rows: sessions,
    })}
<form method="post" action="${pageRoutes.endAllSessions}">${frame.csrfField}<button class="secondary">Sign out everywhere</button></form></div>`,
  );
}

function endForm(frame: Frame, { id, visitor }: SessionView): Html {
  return html`<form method="post" action="${pageRoutes.endSession}">${frame.csrfField}<input type="hidden" name="id" value="${id}">
<button class="quiet">End<span class="hidden"> ${deviceOf(visitor.userAgent)}</span></button></form>`;
}

function wayOf(amr: readonly Method[]): string {
  if (amr.includes('hwk') || amr.includes('swk')) return 'Passkey';
  if (amr.includes('otp')) return 'Authenticator app';
  return amr.includes('recovery') ? 'Recovery code' : 'E-mail';
}
