import { checkboxes, html, linkButton } from '@octavo/web/html';
import type { PageRoutes } from '@octavo/web/pages';
import { pageRoutes } from '../routes.ts';
import type { PageParts, PageSession, Visitor } from '../site/page-context.ts';
import { chooseKinds, shownKinds } from './choice.ts';
import { kindOf, type NotificationType, notificationTypes } from './notification.ts';

/** Kinds shown by default come first. */
const choices = [true, false].flatMap((isShown) =>
  notificationTypes.flatMap((type) =>
    kindOf(type).isShown === isShown ? [[type, kindOf(type).words] as const] : [],
  ),
);

/** The kinds of notifications that pages show, to choose from. */
export function addChoicePages(
  routes: PageRoutes<PageSession>,
  { context, visitors: access }: PageParts,
): void {
  routes.get(pageRoutes.notificationChoice, { access }, async (visitor) =>
    choicePage(visitor, await shownKinds(context.db, visitor.caller.owner)),
  );
  routes.post(pageRoutes.notificationChoice, { access }, async ({ visit, caller }) => {
    const chosen = new Set(visit.values('kind'));
    await chooseKinds(
      context,
      caller,
      notificationTypes.filter((type) => chosen.has(type)),
    );
    return visit.redirect(pageRoutes.notifications, {
      tone: 'good',
      text: 'Your notification settings were saved.',
    });
  });
}

function choicePage(visitor: Visitor, shown: readonly NotificationType[]): Promise<string> {
  return visitor.render({
    title: 'Choose notifications',
    lead: 'Pages count and show only these events. All events are recorded and sent to connected programs.',
    parent: { href: pageRoutes.notifications, label: 'Notifications' },
    main: html`<form class="card form" method="post" action="${pageRoutes.notificationChoice}">${visitor.csrfField}
${checkboxes({ name: 'kind', label: 'Notify me when', choices, checked: shown })}
<div class="actions"><button>Save</button>${linkButton(pageRoutes.notifications, 'Cancel', 'quiet')}</div></form>`,
  });
}
