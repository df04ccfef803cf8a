import type { Clock } from '@octavo/core';
import { badge, confirm, type Frame, type Html, html, layout, linkButton, notice } from '@octavo/web/html';
import type { PageRoutes } from '@octavo/web/pages';
import {
  type AccountCard,
  type AccountView,
  type PageContext,
  type ShowAccount,
  senderOf,
  sessionEndedText,
} from '../pages/pages.ts';
import { signInPage } from '../pages/sign-in.ts';
import { pageRoutes } from '../routes.ts';
import { isFresh, type TokenPair } from '../sessions/index.ts';
import type { User } from '../users/index.ts';
import type { Accounts } from './accounts.ts';

/** The parts of the account page, which the features draw. */
interface AccountCards {
  readonly passkeys: AccountCard;
  readonly totp: AccountCard;
  readonly recoveryCodes: AccountCard;
  readonly sessions: AccountCard;
}

interface AccountPages {
  readonly pages: PageContext;
  readonly accounts: Accounts;
  readonly showAccount: ShowAccount;
}

/** Everything about an account on one page: how its owner signs in, and where they are signed in. */
export function createAccountPage(parts: {
  readonly pages: PageContext;
  readonly accounts: Accounts;
  readonly clock: Clock;
  readonly cards: AccountCards;
}): ShowAccount {
  const { pages, accounts, clock, cards } = parts;
  return async (visit, caller, problem) => {
    const view = {
      caller,
      isFresh: isFresh(caller, clock.now()),
      factors: await accounts.factors(caller),
    };
    return accountPage(pages.frameOf(visit, caller), view, { cards, problem });
  };
}

export function addAccountPages(routes: PageRoutes<TokenPair>, parts: AccountPages): void {
  const { pages, accounts, showAccount } = parts;
  routes.get(pageRoutes.home, { access: 'public' }, async (visit) => {
    const caller = await pages.callerOf(visit);
    if (caller) return showAccount(visit, caller);
    return signInPage(pages.frameOf(visit), { problem: visit.who && sessionEndedText });
  });
  routes.get(pageRoutes.deleteAccount, { access: pages.signedIn }, async ({ visit, caller }) =>
    deletionPage(pages.frameOf(visit, caller), caller.user),
  );
  routes.post(pageRoutes.deleteAccount, { access: pages.signedIn }, async ({ visit, caller }) => {
    await accounts.remove(caller, senderOf(visit));
    visit.signOut();
    return visit.redirect(pageRoutes.home, { tone: 'good', text: 'Your account is deleted.' });
  });
}

async function accountPage(
  frame: Frame,
  view: AccountView,
  { cards, problem }: { cards: AccountCards; problem: string | undefined },
): Promise<string> {
  const { caller, isFresh } = view;
  const { user } = caller;
  return layout(frame, {
    title: 'Account',
    lead: html`${user.email} ${user.isVerified ? badge('good', 'verified') : badge('warn', 'not verified')}`,
    modules: ['passkeys.js'],
    main: html`<div class="stack">${problem && notice('bad', problem)}${!user.isVerified && verification(frame, user)}
${!isFresh && signInAgain()}${await cards.passkeys(frame, view)}
<div class="columns">${await cards.totp(frame, view)}${await cards.recoveryCodes(frame, view)}</div>
${await cards.sessions(frame, view)}${isFresh && deletion()}</div>`,
  });
}

function verification(frame: Frame, { email }: User): Html {
  return notice(
    'warn',
    html`<form class="stack" method="post" action="${pageRoutes.verifyEmail}">${frame.csrfField}
<p>${email} is not verified yet. Other services see the address once you use a link sent there. Open it in this browser, or type its code here: if a link is used where you are not signed in, this account is deleted.</p>
<button class="secondary">Mail me a link</button></form>`,
  );
}

function signInAgain(): Html {
  return notice(
    'info',
    html`<p>You signed in a while ago. Sign in again before you change your sign-in methods.</p>
<p class="actions">${linkButton(pageRoutes.signIn, 'Sign in again')}</p>`,
  );
}

function deletion(): Html {
  return html`<p class="actions"><a class="button secondary" href="${pageRoutes.deleteAccount}" data-dialog>Delete account</a></p>`;
}

function deletionPage(frame: Frame, user: User): string {
  return layout(frame, {
    title: 'Delete account',
    parent: { href: pageRoutes.home, label: 'Account' },
    main: confirm({
      title: `Delete the account of ${user.email}?`,
      text: 'Its passkeys, authenticator app, recovery codes and sessions are deleted. This cannot be undone.',
      action: pageRoutes.deleteAccount,
      csrfField: frame.csrfField,
      deed: 'Delete account',
      cancelHref: pageRoutes.home,
    }),
  });
}
