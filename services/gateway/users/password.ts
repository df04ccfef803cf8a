import { newSecret } from '@octavo/core';
import type { Account } from '@octavo/protocols/authz/v1/authz';
import { card, type Frame, facts, html, layout, linkButton, notice } from '@octavo/web/html';
import { pageRoutes, userPath } from '../routes.ts';

/** 96 random bits in 16 characters. */
export function newPassword(): string {
  return newSecret(12);
}

interface PasswordView {
  readonly account: Account;
  readonly password: string;
  readonly title: string;
  readonly text: string;
}

/** The only page that shows a password that was made for a user. */
export function passwordPage(frame: Frame, { account, password, title, text }: PasswordView): string {
  return layout(frame, {
    title,
    parent: { href: pageRoutes.users, label: 'Users' },
    main: html`${notice('warn', 'It is not shown again. Pass it on securely, and ask the user to change it on the account page.', { title: text })}
<div class="stack">${card(
      undefined,
      facts([
        ['User name', account.username],
        ['Password', html`<code>${password}</code>`],
      ]),
    )}<p class="actions">${linkButton(userPath('user', account.uid), 'Done', 'primary')}</p></div>`,
  });
}
