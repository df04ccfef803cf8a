import type { Fields } from '@octavo/core';
import type { AuthServiceDefinition, EnrollTotpResponse } from '@octavo/protocols/authz/v1/authz';
import type { Client } from '@octavo/rpc';
import {
  confirm,
  errorSummary,
  type Frame,
  field,
  formProblem,
  type Html,
  hasReason,
  html,
  layout,
  linkButton,
  notice,
  qrCode,
} from '@octavo/web/html';
import type { PageRoutes } from '@octavo/web/pages';
import { keepActions } from '@octavo/web/pages';
import { clientAddress } from '@octavo/web/server';
import { codeField, type PageSession, type Visitor, type Visitors } from '../access/index.ts';
import { pageRoutes } from '../routes.ts';

interface Parts {
  readonly visitors: Visitors;
  readonly authz: Client<AuthServiceDefinition>;
}

/** The pages that set up an authenticator app for the own account, and remove it. */
export function addAppPages(routes: PageRoutes<PageSession>, { visitors, authz }: Parts): void {
  const access = visitors('post', 'read');
  routes.get(pageRoutes.setUpApp, { access }, async ({ visit, caller, call, frame }) => {
    const { account } = await authz.getAccount({ uid: caller.uid }, call);
    return account?.totpEnabled ? visit.redirect(pageRoutes.account) : startPage(frame());
  });
  routes.post(pageRoutes.setUpApp, { access }, (visitor) => startSetup(visitor, authz));
  routes.get(pageRoutes.confirmApp, { access }, async ({ frame }) => confirmPage(frame()));
  routes.post(pageRoutes.confirmApp, { access }, (visitor) => confirmSetup(visitor, authz));
  routes.get(pageRoutes.removeApp, { access }, async ({ frame }) => removePage(frame()));
  routes.post(pageRoutes.removeApp, { access }, (visitor) => removeApp(visitor, authz));
}

async function startSetup({ visit, caller, call, frame }: Visitor, authz: Parts['authz']) {
  try {
    const given = {
      uid: caller.uid,
      password: visit.field('password'),
      remoteAddress: clientAddress(visit.request),
    };
    return keyPage(frame(), await authz.enrollTotp(given, call));
  } catch (error) {
    if (hasReason(error, 'TOTP_ENABLED')) return visit.redirect(pageRoutes.account);
    const { status, ...refusal } = formProblem(error, { INVALID_CREDENTIALS: 'password' });
    visit.reply.code(status);
    return startPage(frame(), refusal);
  }
}

async function confirmSetup(visitor: Visitor, authz: Parts['authz']) {
  const { visit, call, frame } = visitor;
  try {
    await authz.confirmTotp(codeOf(visitor), call);
  } catch (error) {
    const { status, ...refusal } = formProblem(error, { INVALID_CODE: 'code' });
    visit.reply.code(status);
    return confirmPage(frame(), refusal);
  }
  visitor.confirm();
  return visit.redirect(pageRoutes.account, { tone: 'good', text: 'Your authenticator app is set up.' });
}

async function removeApp(visitor: Visitor, authz: Parts['authz']) {
  const { visit, call, frame } = visitor;
  try {
    await authz.disableTotp(codeOf(visitor), call);
  } catch (error) {
    const { status, ...refusal } = formProblem(error, { INVALID_CODE: 'code' });
    visit.reply.code(status);
    return removePage(frame(), refusal);
  }
  // Without an app nothing needs confirmation.
  visit.renew({ token: (visit.who as PageSession).token });
  return visit.redirect(pageRoutes.account, { tone: 'good', text: 'Your authenticator app is removed.' });
}

function codeOf({ visit, caller }: Visitor) {
  return { uid: caller.uid, code: visit.field('code'), remoteAddress: clientAddress(visit.request) };
}

interface Refusal {
  readonly errors?: Fields;
  readonly problem?: string;
}

const title = 'Set up an authenticator app';
const parent = { href: pageRoutes.account, label: 'Account' };
const labels = { password: 'Your password', code: 'Code' };
const notYet = 'The app is not set up yet';

function problems({ errors = {}, problem }: Refusal): Html {
  return html`${problem && notice('bad', problem, { title: notYet })}${errorSummary(errors, labels, notYet)}`;
}

/** Asks for the password, so that a passer-by at an open browser cannot set up an app. */
function startPage(frame: Frame, refusal: Refusal = {}): string {
  return layout(frame, {
    title,
    parent,
    lead: 'You need an app such as Aegis, 1Password or Google Authenticator on your phone.',
    main: html`${problems(refusal)}<form class="form" method="post" action="${pageRoutes.setUpApp}">${frame.csrfField}
${field({
  name: 'password',
  label: labels.password,
  type: 'password',
  error: refusal.errors?.password,
  help: 'To make sure that it is you.',
  attributes: { autocomplete: 'current-password', maxlength: 1024, autofocus: true },
})}
<div class="actions"><button>Continue</button>${linkButton(pageRoutes.account, 'Cancel', 'quiet')}</div></form>`,
  });
}

/** The only page that shows the key. */
function keyPage(frame: Frame, { secret, otpauthUrl }: EnrollTotpResponse): string {
  return layout(frame, {
    title,
    parent,
    modules: ['keep.js'],
    lead: 'The key is shown only now. Confirm it within 15 minutes.',
    main: html`<div class="columns"><section class="card stack"><h2>1. Scan</h2>${qrCode(otpauthUrl, 'QR code for an authenticator app')}
<p>Is the app on this device? <a href="${otpauthUrl}">Open it</a>, or type this key:</p><p><code>${secret.replace(/.{4}(?=.)/g, '$& ')}</code></p>${keepActions({ text: secret, what: 'the key', fileName: 'authenticator-key.txt' })}</section>
<section class="card stack"><h2>2. Confirm</h2>${codeForm(frame)}</section></div>`,
  });
}

function confirmPage(frame: Frame, refusal: Refusal = {}): string {
  return layout(frame, {
    title: 'Confirm your authenticator app',
    parent,
    main: html`${problems(refusal)}<div class="card form stack">${codeForm(frame, refusal.errors?.code)}
<p class="small muted">Does the app show no code, or the wrong one? <a href="${pageRoutes.setUpApp}">Start again</a> with a new key.</p></div>`,
  });
}

function codeForm(frame: Frame, error?: string): Html {
  return html`<form class="stack" method="post" action="${pageRoutes.confirmApp}">${frame.csrfField}${codeField(error)}
<div class="actions"><button>Confirm</button>${linkButton(pageRoutes.account, 'Cancel', 'quiet')}</div></form>`;
}

function removePage(frame: Frame, { errors = {}, problem }: Refusal = {}): string {
  return layout(frame, {
    title: 'Remove authenticator app',
    parent,
    main: confirm({
      title: 'Remove the authenticator app?',
      text: 'Its codes will stop working. Without an app, editors cannot delete posts.',
      action: pageRoutes.removeApp,
      csrfField: frame.csrfField,
      fields: codeField(errors.code),
      problem,
      deed: 'Remove app',
      cancelHref: pageRoutes.account,
    }),
  });
}
