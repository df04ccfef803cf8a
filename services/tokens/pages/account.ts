import { type FormProblem, formProblem, hasReason } from '@octavo/web/html';
import type { PageRoutes, Visit } from '@octavo/web/pages';
import { mailsHint } from '@octavo/web/pages';
import { visitorOf } from '@octavo/web/server';
import type { FastifyReply } from 'fastify';
import type { TokenPair } from '../accounts/tokens.ts';
import { pageRoutes } from '../routes.ts';
import { accountPage } from './account-view.ts';
import {
  callerOf,
  frameOf,
  type PagesOptions,
  type SignedInVisit,
  signedInForm,
  signInPage,
} from './pages.ts';

/** The account page and its forms. */
export function addAccountPages(routes: PageRoutes<TokenPair>, options: PagesOptions): void {
  routes.get(pageRoutes.home, { access: 'public' }, async (visit) => {
    const caller = callerOf(visit, options.signIns);
    return caller ? show({ visit, caller }, options) : signInPage(visit);
  });
  // A reload after a form that failed.
  for (const path of forms) {
    routes.get(path, { access: 'public' }, async (visit) => visit.redirect(pageRoutes.home));
  }
  addSessionForms(routes, options);
  addPasswordForm(routes, options);
  addEmailForm(routes, options);
  addDeletionForm(routes, options);
}

const forms = [
  pageRoutes.refresh,
  pageRoutes.endSession,
  pageRoutes.endAllSessions,
  pageRoutes.changePassword,
  pageRoutes.changeEmail,
  pageRoutes.deleteAccount,
];

function addSessionForms(routes: PageRoutes<TokenPair>, options: PagesOptions): void {
  const { signIns } = options;
  const access = signedInForm(options);
  routes.post(pageRoutes.refresh, { access }, async ({ visit }) => {
    try {
      visit.renew(signIns.refresh(visit.who?.refreshToken ?? '', visitorOf(visit.request)));
    } catch (error) {
      if (!hasReason(error, 'INVALID_TOKEN')) throw error;
      // A double click: the first response has the new tokens, and a message here would write the old ones back.
      return visit.redirect(pageRoutes.home);
    }
    return goHome(visit, 'Both tokens were replaced.');
  });
  routes.post(pageRoutes.endSession, { access }, async ({ visit, caller }) => {
    const id = visit.field('id');
    signIns.revokeSession(caller, id);
    if (id === caller.session.id) visit.signOut();
    return goHome(visit, 'The session has ended.');
  });
  routes.post(pageRoutes.endAllSessions, { access }, async ({ visit, caller }) => {
    signIns.logoutAll(caller);
    visit.signOut();
    return goHome(visit, 'All sessions have ended.');
  });
}

function addPasswordForm(routes: PageRoutes<TokenPair>, options: PagesOptions): void {
  const access = signedInForm(options);
  routes.post(pageRoutes.changePassword, { access }, async ({ visit, caller }) => {
    const [currentPassword, newPassword] = [visit.field('currentPassword'), visit.field('newPassword')];
    const problem = await problemOf(visit, {
      requires: ['currentPassword', 'newPassword'],
      work: () => options.accounts.changePassword(caller, { currentPassword, newPassword }),
      fieldByReason: { ...passwordReasons('currentPassword'), WEAK_PASSWORD: 'newPassword' },
    });
    if (problem) return show({ visit, caller }, options, problem);
    visit.signOut();
    return goHome(
      visit,
      'Your password was changed and all sessions have ended. Sign in with the new password.',
    );
  });
}

function addEmailForm(routes: PageRoutes<TokenPair>, options: PagesOptions): void {
  const access = signedInForm(options);
  routes.post(pageRoutes.changeEmail, { access }, async ({ visit, caller }) => {
    const given = { newEmail: visit.field('newEmail'), password: visit.field('emailPassword') };
    const problem = await problemOf(visit, {
      requires: ['newEmail', 'emailPassword'],
      work: () => options.accounts.changeEmail(caller, given),
      fieldByReason: {
        ...passwordReasons('emailPassword'),
        INVALID_EMAIL: 'newEmail',
        DUPLICATE_EMAIL: 'newEmail',
      },
    });
    if (problem) return show({ visit, caller }, options, { ...problem, newEmail: given.newEmail });
    return goHome(visit, 'Your e-mail address was changed.');
  });
}

function addDeletionForm(routes: PageRoutes<TokenPair>, options: PagesOptions): void {
  const access = signedInForm(options);
  routes.post(pageRoutes.deleteAccount, { access }, async ({ visit, caller }) => {
    const problem = await problemOf(visit, {
      requires: ['deletePassword'],
      work: () => options.accounts.remove(caller, visit.field('deletePassword')),
      fieldByReason: passwordReasons('deletePassword'),
    });
    if (problem) return show({ visit, caller }, options, problem);
    visit.signOut();
    return goHome(visit, 'The account was deleted.');
  });
}

function passwordReasons(field: string): Record<string, string> {
  return { INVALID_CREDENTIALS: field, ACCOUNT_LOCKED: field };
}

function goHome(visit: Visit<TokenPair>, text: string): FastifyReply {
  return visit.redirect(pageRoutes.home, { tone: 'good', text });
}

interface FormWork {
  /** Fields that must not be empty. */
  readonly requires: readonly string[];
  work(): Promise<unknown>;
  readonly fieldByReason: Readonly<Record<string, string>>;
}

/** Does the work of a form; gives what went wrong. */
async function problemOf(
  visit: Visit<TokenPair>,
  { requires, work, fieldByReason }: FormWork,
): Promise<FormProblem | undefined> {
  const missing = requires.filter((name) => visit.field(name) === '');
  if (missing.length > 0) {
    return { status: 400, errors: Object.fromEntries(missing.map((name) => [name, 'is required'])) };
  }
  try {
    await work();
    return undefined;
  } catch (error) {
    return formProblem(error, fieldByReason);
  }
}

function show(
  { visit, caller }: SignedInVisit,
  { signIns, links, mailFolder, passwordRules, clock }: PagesOptions,
  failed?: FormProblem & { newEmail?: string },
): string {
  if (failed) visit.reply.code(failed.status);
  return accountPage(frameOf(visit, caller), {
    caller,
    sessions: signIns.sessionsOf(caller),
    verifies: links.verifies,
    mailsHint: mailFolder && mailsHint,
    nowMs: clock.now(),
    charactersMin: passwordRules.charactersMin,
    newEmail: failed?.newEmail,
    errors: failed?.problem ? { form: failed.problem } : (failed?.errors ?? {}),
  });
}
