import type { Fields } from '@octavo/core';
import { otpauthUrl } from '@octavo/core/auth';
import {
  badge,
  card,
  confirm,
  errorSummary,
  type Frame,
  formProblem,
  html,
  layout,
  linkButton,
  qrCode,
} from '@octavo/web/html';
import type { PageRoutes } from '@octavo/web/pages';
import { keepActions } from '@octavo/web/pages';
import { visitorOf } from '@octavo/web/server';
import { sixDigits } from '../keys/codes.ts';
import type { RequestLimits } from '../limits.ts';
import {
  type AccountCard,
  type PageContext,
  removalLink,
  type ShowAccount,
  senderOf,
} from '../pages/pages.ts';
import { codeErrors, codeField, codePage, type SignInView, signInByCode } from '../pages/sign-in.ts';
import { pageRoutes } from '../routes.ts';
import type { Sessions, TokenPair } from '../sessions/index.ts';
import type { TotpSetup } from './setup.ts';
import type { TotpSignIns } from './sign-ins.ts';

interface TotpPages {
  readonly pages: PageContext;
  readonly totpSetup: TotpSetup;
  readonly totpSignIns: TotpSignIns;
  readonly sessions: Sessions;
  readonly limits: RequestLimits;
  readonly showAccount: ShowAccount;
}

export function addTotpPages(routes: PageRoutes<TokenPair>, parts: TotpPages): void {
  addSignIn(routes, parts);
  addSetup(routes, parts);
  addConfirmation(routes, parts);
  addRemoval(routes, parts);
}

function addSignIn(routes: PageRoutes<TokenPair>, parts: TotpPages): void {
  const { pages, totpSignIns, sessions, limits } = parts;
  routes.get(pageRoutes.signInByApp, { access: 'public' }, async (visit) => {
    const caller = await pages.callerOf(visit);
    return signInByAppPage(pages.frameOf(visit), { email: caller?.user.email });
  });
  routes.post(pageRoutes.signInByApp, { access: 'public' }, (visit) =>
    signInByCode(visit, {
      sessions,
      limit: limits.verify,
      isNumeric: true,
      verify: (given, visitor) => totpSignIns.verify(given, visitor),
      show: (view) => signInByAppPage(pages.frameOf(visit), view),
    }),
  );
}

function addSetup(routes: PageRoutes<TokenPair>, parts: TotpPages): void {
  const { pages, totpSetup, limits, showAccount } = parts;
  for (const path of [pageRoutes.setUpApp, pageRoutes.confirmApp]) {
    routes.get(path, { access: 'public' }, async (visit) => visit.redirect(pageRoutes.home));
  }
  routes.post(pageRoutes.setUpApp, { access: pages.signedIn }, async ({ visit, caller }) => {
    try {
      await limits.enroll(visit.request, visit.reply);
      const from = { caller, ...senderOf(visit) };
      const { secret, otpauth_url: url } = await totpSetup.enroll(caller.user.email, from);
      return setupPage(pages.frameOf(visit, caller), { secret, url });
    } catch (error) {
      const { status, problem } = formProblem(error, {});
      visit.reply.code(status);
      return showAccount(visit, caller, problem);
    }
  });
}

function addConfirmation(routes: PageRoutes<TokenPair>, parts: TotpPages): void {
  const { pages, totpSetup, totpSignIns, sessions, limits } = parts;
  routes.post(pageRoutes.confirmApp, { access: pages.signedIn }, async ({ visit, caller }) => {
    const { email } = caller.user;
    const secret = /^[A-Z2-7]{32}$/.exec(visit.field('secret'))?.[0];
    if (secret === undefined) return visit.redirect(pageRoutes.home);
    const again = (status: number, errors: Fields) => {
      visit.reply.code(status);
      const url = otpauthUrl({ secret, issuer: totpSetup.issuer, account: email });
      return setupPage(pages.frameOf(visit, caller), { secret, url, errors });
    };
    const typed = visit.field('code').trim();
    const code = sixDigits(typed);
    if (code === undefined) return again(400, codeErrors(typed, true) as Fields);
    try {
      await limits.verify(visit.request, visit.reply);
      const pair = await totpSignIns.verify({ email, code }, visitorOf(visit.request));
      // The user is signed in already.
      await sessions.revoke(pair.refresh_token);
    } catch (error) {
      const { status, errors, problem = 'is wrong' } = formProblem(error, { INVALID_CODE: 'code' });
      const wrong = 'is wrong: the app may hold another secret, or the clock of its device may be off';
      return again(status, { code: errors.code ? wrong : problem });
    }
    return visit.redirect(pageRoutes.home, { tone: 'good', text: 'The authenticator app is set up.' });
  });
}

function addRemoval(routes: PageRoutes<TokenPair>, { pages, totpSetup }: TotpPages): void {
  routes.get(pageRoutes.removeApp, { access: pages.signedIn }, async ({ visit, caller }) =>
    removalPage(pages.frameOf(visit, caller)),
  );
  routes.post(pageRoutes.removeApp, { access: pages.signedIn }, async ({ visit, caller }) => {
    try {
      await totpSetup.remove(caller, senderOf(visit));
    } catch (error) {
      const { status, problem } = formProblem(error, {});
      visit.reply.code(status);
      return removalPage(pages.frameOf(visit, caller), problem);
    }
    return visit.redirect(pageRoutes.home, { tone: 'good', text: 'The authenticator app is removed.' });
  });
}

export const totpCard: AccountCard = (frame, { factors, isFresh }) => {
  const state = factors.totp ? badge('good', 'set up') : badge('plain', 'not set up');
  const label = factors.totp ? 'Set up again' : 'Set up';
  return card(
    'Authenticator app',
    html`<div class="stack"><p>${state}</p><p class="muted">An app on your phone shows six digits. They can be phished; a passkey cannot.</p>
${
  isFresh &&
  html`<div class="actions"><form method="post" action="${pageRoutes.setUpApp}">${frame.csrfField}<button class="secondary">${label}</button></form>
${factors.totp && removalLink(pageRoutes.removeApp)}</div>`
}</div>`,
  );
};

function signInByAppPage(frame: Frame, view: SignInView): string {
  return codePage(frame, view, {
    title: 'Authenticator app',
    action: pageRoutes.signInByApp,
    field: codeField(view, 'The six digits that your app shows now.'),
  });
}

/** Shows the secret to scan or type, and asks for a code to check that the app has it. */
function setupPage(
  frame: Frame,
  { secret, url, errors = {} }: { secret: string; url: string; errors?: Fields },
): string {
  return layout(frame, {
    title: 'Set up an authenticator app',
    parent: { href: pageRoutes.home, label: 'Account' },
    modules: ['keep.js'],
    main: html`${errorSummary(errors, { code: 'Code' }, 'The app is not set up yet')}
<div class="columns"><section class="card stack"><h2>1. Scan</h2>${qrCode(url, 'QR code for an authenticator app')}
<p>Is the app on this device? <a href="${url}">Open it</a>, or type this key:</p><p><code>${secret.replace(/.{4}(?=.)/g, '$& ')}</code></p>${keepActions({ text: secret, what: 'the key', fileName: 'authenticator-key.txt' })}</section>
<section class="card stack"><h2>2. Confirm</h2><form class="stack" method="post" action="${pageRoutes.confirmApp}" novalidate>${frame.csrfField}<input type="hidden" name="secret" value="${secret}">
${codeField({ errors }, 'The six digits that the app shows now.')}
<div class="actions"><button>Confirm</button>${linkButton(pageRoutes.home, 'Cancel', 'quiet')}</div></form></section></div>`,
  });
}

function removalPage(frame: Frame, problem?: string): string {
  return layout(frame, {
    title: 'Remove authenticator app',
    parent: { href: pageRoutes.home, label: 'Account' },
    main: confirm({
      title: 'Remove the authenticator app?',
      text: 'Its codes will no longer sign you in.',
      action: pageRoutes.removeApp,
      csrfField: frame.csrfField,
      problem,
      deed: 'Remove app',
      cancelHref: pageRoutes.home,
    }),
  });
}
