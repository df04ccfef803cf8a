import { card, linkButton } from '#kit/html/components/blocks.ts';
import { field } from '#kit/html/components/form.ts';
import type { FormProblem } from '#kit/html/components/form-problem.ts';
import { time } from '#kit/html/format.ts';
import { type Content, type Html, html } from '#kit/html/html.ts';
import type { PageRoutes } from '#kit/html/pages/pages.ts';
import type { LimitSharedRequest } from '#kit/http/requests/rate-limit.ts';
import { pageRoutes } from '../../routes.ts';
import { filled, type PageParts, type PageSession, submit, type Visitor } from '../../site/page-context.ts';
import { hrefWith, problems } from '../../site/views.ts';
import { type Accounts, deleteProfile, getProfile, requestLink, updateProfile } from '../accounts.ts';
import { addressOf, type Profile } from '../user.ts';

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

const forms = ['profile', 'email', 'password', 'erase'] as const;
type FormName = (typeof forms)[number];

/** The account: name, address, password, its data, and its end. */
export function addSettingsPages(routes: PageRoutes<PageSession>, parts: SettingsPagesParts): void {
  const { accounts, limit, visitors: access } = parts;
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
  addOthers(routes, parts, show);

  async function show(visitor: Visitor, failed?: Failed): Promise<string> {
    const profile = await getProfile(accounts, visitor.caller);
    const connection = await accounts.oidc?.connection(visitor.visit, String(visitor.caller.owner));
    return settingsPage(visitor, {
      profile,
      failed,
      charactersMin: accounts.rules.charactersMin,
      connection,
    });
  }
}

type Show = (visitor: Visitor, failed?: Failed) => Promise<string>;

function addOthers(
  routes: PageRoutes<PageSession>,
  { accounts, limit, visitors: access }: SettingsPagesParts,
  show: Show,
): void {
  routes.post(pageRoutes.verifyAgain, { access }, async ({ visit, caller }) => {
    await limit(visit.request, visit.reply);
    const { email } = await getProfile(accounts, caller);
    requestLink(accounts, 'verify', email);
    return visit.redirect(pageRoutes.settings, { tone: 'info', text: `A mail is on its way to ${email}.` });
  });
  routes.post(pageRoutes.eraseAccount, { access }, (visitor) => {
    const { visit, caller } = visitor;
    return submit(visit, {
      work: async () => {
        await limit(visit.request, visit.reply);
        return deleteProfile(accounts, caller, visit.field('password'));
      },
      done: () => {
        visit.signOut();
        const text = 'Your account was erased, with everything in it.';
        return visit.redirect(pageRoutes.signIn, { tone: 'good', text });
      },
      again: (problem) => show(visitor, { form: 'erase', problem }),
    });
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
  /** A card about the sign-in with the OpenID provider. */
  readonly connection: Content;
}

function settingsPage(visitor: Visitor, view: SettingsView): Promise<string> {
  const { profile, failed, charactersMin, connection } = view;
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
        html`${field({ name: 'username', label: labels.username, value: typed('profile', 'username', username ?? ''), error: errorOf('profile', 'username'), attributes: { maxlength: 64, autocomplete: 'name' } })}<div class="actions"><button class="secondary">Save name</button></div>`,
      ),
    )}${card(
      'E-mail address',
      html`${!emailVerified && email && notVerified(visitor, email)}${form(
        'email',
        pageRoutes.changeEmail,
        html`${field({ name: 'email', label: labels.email, type: 'email', value: typed('email', 'email', email ?? ''), error: errorOf('email', 'email'), attributes: { maxlength: 320, autocomplete: 'email' } })}${passwordField('email')}<div class="actions"><button class="secondary">Change address</button></div>`,
      )}`,
    )}${card(
      'Password',
      form(
        'password',
        pageRoutes.changePassword,
        html`${field({ name: 'newPassword', label: labels.newPassword, type: 'password', error: errorOf('password', 'newPassword'), help: `At least ${charactersMin} characters.`, attributes: { autocomplete: 'new-password', maxlength: 1_024 } })}${passwordField('password')}<div class="actions"><button class="secondary">Change password</button></div>`,
      ),
    )}${connection}${card('Notifications', html`<p>Choose the events that you are notified about.</p><p class="actions">${linkButton(pageRoutes.notificationChoice, 'Choose notifications')}</p>`)}${card('Your data', html`<p>All your expenses as a file. CSV opens in spreadsheets; OFX and QIF in other programs for budgets.</p><p class="actions">${['csv', 'ofx', 'qif', 'json'].map((format) => linkButton(hrefWith(pageRoutes.export, { format }), format.toUpperCase()))}</p>`)}${card(
      'Erase your account',
      form(
        'erase',
        pageRoutes.eraseAccount,
        html`<p>Your budgets, expenses, orders and the ledger are erased with it. This cannot be undone.</p>${passwordField('erase')}<div class="actions"><button class="danger">Erase account</button></div>`,
      ),
    )}</div>`,
  });
}

function notVerified({ csrfField }: Visitor, email: string): Html {
  return html`<form class="stack" method="post" action="${pageRoutes.verifyAgain}">${csrfField}<p>${email} is not verified yet. Without that, reports cannot be mailed to you. <button class="quiet">Send the link again</button></p></form>`;
}

/** Several forms ask for it, so each has an id of its own; the one that failed has that of its error. */
function currentPassword(form: FormName, error: string | undefined, hasFailed: boolean): Html {
  const id = hasFailed ? 'field-password' : `field-password-${form}`;
  return html`<div class="field"><label for="${id}">${labels.password}</label><input type="password" id="${id}" name="password" autocomplete="current-password" maxlength="1024" aria-invalid="${error ? 'true' : 'false'}">${error && html`<p class="wrong">${labels.password} ${error}</p>`}</div>`;
}
