import {
  badge,
  card,
  count,
  type Frame,
  field,
  formProblem,
  html,
  layout,
  linkButton,
  notice,
} from '@octavo/web/html';
import type { PageRoutes } from '@octavo/web/pages';
import { keepActions } from '@octavo/web/pages';
import type { RequestLimits } from '../limits.ts';
import { type AccountCard, type PageContext, type ShowAccount, senderOf } from '../pages/pages.ts';
import { codePage, type SignInView, signInByCode } from '../pages/sign-in.ts';
import { pageRoutes } from '../routes.ts';
import type { Sessions, TokenPair } from '../sessions/index.ts';
import type { RecoveryCodes } from './recovery-codes.ts';

const fewCodes = 2;

interface RecoveryCodePages {
  readonly pages: PageContext;
  readonly recoveryCodes: RecoveryCodes;
  readonly sessions: Sessions;
  readonly limits: RequestLimits;
  readonly showAccount: ShowAccount;
}

export function addRecoveryCodePages(routes: PageRoutes<TokenPair>, parts: RecoveryCodePages): void {
  const { pages, recoveryCodes, sessions, limits, showAccount } = parts;
  routes.get(pageRoutes.signInByRecoveryCode, { access: 'public' }, async (visit) => {
    const caller = await pages.callerOf(visit);
    return signInByRecoveryCodePage(pages.frameOf(visit), { email: caller?.user.email });
  });
  routes.post(pageRoutes.signInByRecoveryCode, { access: 'public' }, (visit) =>
    signInByCode(visit, {
      sessions,
      limit: limits.verify,
      isNumeric: false,
      verify: (given, visitor) => recoveryCodes.verify(given, visitor),
      show: (view) => signInByRecoveryCodePage(pages.frameOf(visit), view),
    }),
  );
  routes.get(pageRoutes.recoveryCodes, { access: 'public' }, async (visit) =>
    visit.redirect(pageRoutes.home),
  );
  routes.post(pageRoutes.recoveryCodes, { access: pages.signedIn }, async ({ visit, caller }) => {
    try {
      const codes = await recoveryCodes.renew(caller, senderOf(visit));
      return newCodesPage(pages.frameOf(visit, caller), codes);
    } catch (error) {
      const { status, problem } = formProblem(error, {});
      visit.reply.code(status);
      return showAccount(visit, caller, problem);
    }
  });
}

export const recoveryCodesCard: AccountCard = (frame, { factors: { recoveryCodes }, isFresh }) => {
  const state =
    recoveryCodes > 0
      ? badge(recoveryCodes > fewCodes ? 'good' : 'warn', `${count(recoveryCodes, 'code')} left`)
      : badge('plain', 'none');
  const label = recoveryCodes > 0 ? 'Create new codes' : 'Create codes';
  return card(
    'Recovery codes',
    html`<div class="stack"><p>${state}</p><p class="muted">Use a recovery code if you lose your other sign-in methods. New codes replace the old ones.</p>
${
  isFresh &&
  html`<form method="post" action="${pageRoutes.recoveryCodes}">${frame.csrfField}<button class="secondary">${label}</button></form>`
}</div>`,
  );
};

function signInByRecoveryCodePage(frame: Frame, view: SignInView): string {
  return codePage(frame, view, {
    title: 'Recovery code',
    action: pageRoutes.signInByRecoveryCode,
    field: field({
      name: 'code',
      label: 'Code',
      error: view.errors?.code,
      help: 'One of the codes that you saved. Each works once.',
      attributes: { autocomplete: 'off', autocapitalize: 'characters', spellcheck: 'false' },
    }),
  });
}

function newCodesPage(frame: Frame, codes: readonly string[]): string {
  return layout(frame, {
    title: 'Recovery codes',
    parent: { href: pageRoutes.home, label: 'Account' },
    modules: ['keep.js'],
    main: html`<div class="stack">${notice('warn', 'Print, download or copy these codes now. They are not shown again.')}
<section class="card stack"><pre><code>${codes.join('\n')}</code></pre>
${keepActions({ text: codes.join('\n'), what: 'the codes', fileName: 'recovery-codes.txt' })}<p class="muted">Each code signs you in once. Your old codes no longer work.</p>
${linkButton(pageRoutes.home, 'I have saved them', 'primary')}</section></div>`,
  });
}
