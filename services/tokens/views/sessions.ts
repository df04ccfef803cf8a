import { badge, card } from '#kit/html/blocks.ts';
import { deviceOf } from '#kit/html/device.ts';
import { time } from '#kit/html/format.ts';
import { type Html, html } from '#kit/html/html.ts';
import type { Frame } from '#kit/html/layout.ts';
import { table } from '#kit/html/table.ts';
import { pageRoutes } from '../routes.ts';
import type { SessionView } from './account.ts';

export function sessionsCard(frame: Frame, sessions: readonly SessionView[]): Html {
  return card(
    'Sessions',
    html`<div class="stack">${table<SessionView>({
      caption: 'Sessions',
      columns: [
        {
          header: 'Device',
          kind: 'main',
          cell: ({ userAgent, isCurrent }) =>
            html`<span title="${userAgent}">${deviceOf(userAgent)}</span> ${isCurrent && badge('good', 'this one')}`,
        },
        { header: 'Address', kind: 'fit', cell: ({ address }) => address },
        { header: 'Signed in', kind: 'fit', cell: ({ createdMs }) => time(createdMs) },
        { header: 'Last used', kind: 'fit', cell: ({ lastUsedMs }) => time(lastUsedMs) },
        { header: 'End', kind: 'row-actions', cell: (session) => endForm(frame, session) },
      ],
      rows: sessions,
    })}
<form method="post" action="${pageRoutes.endAllSessions}">${frame.csrfField}<button class="secondary">End all sessions</button></form></div>`,
  );
}

function endForm(frame: Frame, { id, userAgent }: SessionView): Html {
  return html`<form method="post" action="${pageRoutes.endSession}">${frame.csrfField}<input type="hidden" name="id" value="${id}">
<button class="quiet">End<span class="hidden"> ${deviceOf(userAgent)}</span></button></form>`;
}
