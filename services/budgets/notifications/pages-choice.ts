import { checkboxes, html, linkButton } from '@octavo/web/html';
import type { PageRoutes } from '@octavo/web/pages';
import { pageRoutes } from '../routes.ts';
import type { PageParts, PageSession, Visitor } from '../site/page-context.ts';
import { chooseKinds, shownKinds } from './choice.ts';
import { type NotificationType, notificationTypes } from './notification.ts';

const words: Readonly<Record<NotificationType, string>> = {
  'budget.threshold': 'A budget reaches a threshold',
  'task.finished': 'A task finishes, such as an import',
  message: 'Messages to yourself',
  'expense.created': 'An expense is added',
  'expense.updated': 'An expense is changed',
  'expense.deleted': 'An expense is deleted',
  'budget.created': 'A budget is created',
  'budget.updated': 'A budget is changed',
  'budget.deleted': 'A budget is deleted',
};

/** The kinds of notifications that pages show, to choose from. */
export function addChoicePages(routes: PageRoutes<PageSession>, { core, visitors: access }: PageParts): void {
  routes.get(pageRoutes.notificationChoice, { access }, async (visitor) =>
    choicePage(visitor, await shownKinds(core.db, visitor.caller.owner)),
  );
  routes.post(pageRoutes.notificationChoice, { access }, async ({ visit, caller }) => {
    const chosen = new Set(visit.values('kind'));
    await chooseKinds(
      core,
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
${checkboxes({ name: 'kind', label: 'Notify me when', choices: Object.entries(words), checked: shown })}
<div class="actions"><button>Save</button>${linkButton(pageRoutes.notifications, 'Cancel', 'quiet')}</div></form>`,
  });
}
