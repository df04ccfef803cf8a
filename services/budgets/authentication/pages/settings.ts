import { type AccountPasswords, addLeavingPage } from '@octavo/people/sign-in';
import type { FormProblem } from '@octavo/web/html';
import { type Content, card, field, type Html, html, linkButton, time } from '@octavo/web/html';
import { ownPath, type PageRoutes } from '@octavo/web/pages';
import type { LimitSharedRequest } from '@octavo/web/server';
import { pageRoutes } from '../../routes.ts';
import {
  filled,
  type PageParts,
  type PageSession,
  type PageVisit,
  submit,
  type Visitor,
} from '../../site/page-context.ts';
import { hrefWith, problems } from '../../site/views.ts';
import { type Accounts, accountName, getProfile, requestLink, updateProfile } from '../accounts.ts';
import { eraseAccount } from '../erasure.ts';
import { ownPasswords } from '../own-password.ts';
import { authenticateSession } from '../tokens.ts';
import { accountLimits, addressOf, type Profile } from '../user.ts';

export interface SettingsPagesParts extends PageParts {
  readonly accounts: Accounts;
  /** Forms with a password count for the same limit as sign-ins. */
  readonly limit: LimitSharedRequest;
}

const labels = {
  username: 'Name',
  email: 'E-mail address',
  password: 'Current password',
  newPassword: 'New password',
};

const forms = ['profile', 'email', 'password'] as const;
type FormName = (typeof forms)[number];

/** The account: name, address, password, its data, and the way to its end. */
export function addSettingsPages(routes: PageRoutes<PageSession>, parts: SettingsPagesParts): void {
  const { accounts, limit, visitors: access } = parts;
  const passwords = ownPasswords(accounts);
  routes.get(pageRoutes.settings, { access }, (visitor) => show(visitor));
  const change = (path: string, form: FormName, names: readonly string[], text: string) =>
    routes.post(path, { access }, (visitor) => {
      const { visit, caller } = visitor;
      return submit(visit, {
        work: async () => {
          if (form !== 'profile') await limit(visit.request, visit.reply);
          return updateProfile(accounts, caller, givenIn(visitor, names));
        },
        done: () => visit.redirect(pageRoutes.settings, { tone: 'good', text }),
        again: (problem) => show(visitor, { form, problem }),
      });
    });
  change(pageRoutes.changeProfile, 'profile', ['username'], 'Your name was saved.');
  const moved = 'Your address was changed. A mail to verify it is on its way.';
  change(pageRoutes.changeEmail, 'email', ['email', 'password'], moved);
  const renewed = 'Your password was changed. Other sessions have ended.';
  change(pageRoutes.changePassword, 'password', ['newPassword', 'password'], renewed);
  routes.post(pageRoutes.verifyAgain, { access }, async ({ visit, caller }) => {
    await limit(visit.request, visit.reply);
    const { email } = await getProfile(accounts, caller);
    requestLink(accounts, 'verify', email);
    const back = ownPath(visit.field('back'));
    const path = back === '/' ? pageRoutes.settings : back;
    return visit.redirect(path, { tone: 'info', text: `A mail is on its way to ${email}.` });
  });
  addLeaving(routes, parts, passwords);

  async function show(visitor: Visitor, failed?: Failed): Promise<string> {
    const profile = await getProfile(accounts, visitor.caller);
    const account = String(visitor.caller.owner);
    const connection = await accounts.oidc?.connection(visitor.visit, account, pageRoutes.settings);
    return settingsPage(visitor, {
      profile,
      failed,
      hasPassword: await passwords.has(account),
      providerName: (await accounts.oidc?.isConnected(account)) ? accounts.oidc?.providerName : undefined,
      charactersMin: accounts.rules.charactersMin,
      connection,
    });
  }
}

/** Forms with a password count for the same limit as sign-ins. */
function addLeaving(
  routes: PageRoutes<PageSession>,
  { accounts, limit, visitors, context }: SettingsPagesParts,
  passwords: AccountPasswords<PageSession>,
): void {
  const signedIn = ({ who }: PageVisit) => who && authenticateSession(context, who.sessionId);
  addLeavingPage<PageSession>(routes, {
    service: 'Budgets',
    paths: {
      leave: pageRoutes.eraseAccount,
      account: pageRoutes.settings,
      signIn: pageRoutes.signIn,
      after: pageRoutes.signIn,
    },
    erased: [
      'Your name, e-mail address and sign-ins',
      'Your budgets, expenses and rules for recurring ones',
      'Your customers, orders and the ledger',
      'Your imports, reports and notifications',
    ],
    kept: [
      'Budgets that you share with an editor: each goes, with its expenses, to the editor who joined first',
    ],
    oidc: accounts.oidc,
    passwords: {
      has: passwords.has,
      async check(visit, account, password) {
        await limit(visit.request, visit.reply);
        await passwords.check(visit, account, password);
      },
    },
    async find(visit) {
      const caller = await signedIn(visit);
      if (!caller) return undefined;
      const { name } = await accountName(context, caller);
      return { account: String(caller.owner), name };
    },
    erase: (_visit, { account }) => eraseAccount(context, Number(account)),
    signOut: (visit) => visit.signOut(),
    render: async (visit, page) => (await visitors(visit)).render(page),
  });
}

/** A name that was emptied is taken away; anything else that is empty is missing. */
function givenIn({ visit }: Visitor, names: readonly string[]): Record<string, string | null> {
  const given = filled(visit, names);
  const passwords = names.filter((name) => /password$/i.test(name) && visit.field(name) !== '');
  const exact = Object.fromEntries(passwords.map((name) => [name, visit.field(name)]));
  const emptied = Object.fromEntries(names.map((name) => [name, name === 'username' ? null : '']));
  return { ...emptied, ...given, ...exact };
}

interface Failed {
  readonly form: FormName;
  readonly problem: FormProblem;
}

interface SettingsView {
  readonly profile: Profile;
  readonly failed: Failed | undefined;
  readonly charactersMin: number;
  readonly hasPassword: boolean;
  /** The OpenID provider, if the account is connected. */
  readonly providerName: string | undefined;
  /** A card about the sign-in with the OpenID provider. */
  readonly connection: Content;
}

function settingsPage(visitor: Visitor, view: SettingsView): Promise<string> {
  const { profile, failed, charactersMin, hasPassword, providerName, connection } = view;
  const { username, emailVerified, createdAt } = profile;
  const email = addressOf(profile);
  const { visit } = visitor;
  const form = (name: FormName, path: string, content: Content): Html => {
    const problem = failed?.form === name ? failed.problem : undefined;
    return html`${problems(problem, labels)}<form class="stack form" method="post" action="${path}" novalidate>${visitor.csrfField}${content}</form>`;
  };
  const errorOf = (name: FormName, key: string) =>
    failed?.form === name ? failed.problem.errors[key] : undefined;
  const passwordField = (name: FormName) =>
    currentPassword(name, errorOf(name, 'password'), failed?.form === name);
  const typed = (name: FormName, key: string, saved: string) =>
    failed?.form === name ? visit.field(key) : saved;
  return visitor.render({
    title: 'Settings',
    lead: html`Your account since ${time(createdAt)}`,
    main: html`<div class="stack">${card(
      'Name',
      form(
        'profile',
        pageRoutes.changeProfile,
        html`${field({ name: 'username', label: labels.username, value: typed('profile', 'username', username ?? ''), error: errorOf('profile', 'username'), attributes: { maxlength: accountLimits.username, autocomplete: 'name' } })}<div class="actions"><button class="secondary">Save name</button></div>`,
      ),
    )}${
      hasPassword
        ? html`${card(
            'E-mail address',
            html`${!emailVerified && email && notVerified(visitor, email)}${form(
              'email',
              pageRoutes.changeEmail,
              html`${field({ name: 'email', label: labels.email, type: 'email', value: typed('email', 'email', email ?? ''), error: errorOf('email', 'email'), attributes: { maxlength: accountLimits.email, autocomplete: 'email' } })}${passwordField('email')}<div class="actions"><button class="secondary">Change address</button></div>`,
            )}`,
          )}${card(
            'Password',
            form(
              'password',
              pageRoutes.changePassword,
              html`${field({ name: 'newPassword', label: labels.newPassword, type: 'password', error: errorOf('password', 'newPassword'), help: `At least ${charactersMin} characters.`, attributes: { autocomplete: 'new-password', maxlength: accountLimits.password } })}${passwordField('password')}<div class="actions"><button class="secondary">Change password</button></div>`,
            ),
          )}`
        : withoutPassword(email, providerName)
    }${connection}${card('Notifications', html`<p>Choose the events that you are notified about.</p><p class="actions">${linkButton(pageRoutes.notificationChoice, 'Choose notifications')}</p>`)}${card('Your data', html`<p>All your expenses as a file. CSV opens in spreadsheets; OFX and QIF in other programs for budgets.</p><p class="actions">${['csv', 'ofx', 'qif', 'json'].map((format) => linkButton(hrefWith(pageRoutes.export, { format }), format.toUpperCase()))}</p>`)}${card('Erase your account', html`<p>The next page says what is erased.</p><p class="actions">${linkButton(pageRoutes.eraseAccount, 'Erase account')}</p>`)}</div>`,
  });
}

/** Section in place of the forms of people who signed in with the provider and never set a password. */
function withoutPassword(email: string | undefined, providerName: string | undefined): Html {
  const managed =
    providerName === undefined
      ? html`<p>You have no password here. <a href="${pageRoutes.resetPassword}">Set one by e-mail</a></p>`
      : html`<p>You have no password here. You change your e-mail address and password in ${providerName}.</p>`;
  return card('E-mail address and password', html`${email && html`<p>${email}</p>`}${managed}`);
}

function notVerified({ csrfField }: Visitor, email: string): Html {
  return html`<form class="stack" method="post" action="${pageRoutes.verifyAgain}">${csrfField}<p>${email} is not verified yet. Without that, reports cannot be mailed to you. <button class="quiet">Send the link again</button></p></form>`;
}

/** Several forms ask for it, so each has an id of its own; the one that failed has that of its error. */
function currentPassword(form: FormName, error: string | undefined, hasFailed: boolean): Html {
  const id = hasFailed ? 'field-password' : `field-password-${form}`;
  return html`<div class="field"><label for="${id}">${labels.password}</label><input type="password" id="${id}" name="password" autocomplete="current-password" maxlength="1024" aria-invalid="${error ? 'true' : 'false'}">${error && html`<p class="wrong">${labels.password} ${error}</p>`}</div>`;
}
