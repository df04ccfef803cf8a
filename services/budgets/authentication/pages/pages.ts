import type { FormProblem } from '@octavo/web/html';
import type { PageRoutes } from '@octavo/web/pages';
import { ownPath } from '@octavo/web/pages';
import type { LimitSharedRequest } from '@octavo/web/server';
import { pageRoutes } from '../../routes.ts';
import { filled, type PageSession, type PageVisit, parameter, submit } from '../../site/page-context.ts';
import { type Accounts, login, register, resetOrRequest, resetPassword, verifyEmail } from '../accounts.ts';
import { browserSeconds, endSession } from '../tokens.ts';
import { accountLimits } from '../user.ts';
import { forgotPage, newPasswordPage, signInPage, signUpPage, verifyPage } from './views.ts';

export interface AccountPagesParts {
  readonly accounts: Accounts;
  /** Forms count for the same limit as the API. */
  readonly limit: LimitSharedRequest;
}

const open = { access: 'public' } as const;
const forBrowser = { seconds: browserSeconds };

/** Registering, signing in and out, and what mails lead to. */
export function addAccountPages(routes: PageRoutes<PageSession>, parts: AccountPagesParts): void {
  const { accounts } = parts;
  routes.get(pageRoutes.signIn, open, (visit) => signInPage(visit, { next: nextOf(visit) }, accounts.oidc));
  routes.post(pageRoutes.signIn, open, (visit) => signIn(visit, parts));
  routes.get(pageRoutes.signUp, open, async (visit) =>
    signUpPage(visit, accounts.rules.charactersMin, { next: nextOf(visit) }),
  );
  routes.post(pageRoutes.signUp, open, (visit) => signUp(visit, parts));
  routes.post(pageRoutes.signOut, open, async (visit) => {
    const { sessionId } = visit.who ?? {};
    if (visit.who) await endSession(accounts.context.db, visit.who);
    visit.signOut();
    if (await accounts.oidc?.signOut(visit, sessionId)) return visit.reply;
    return visit.redirect(pageRoutes.signIn, { tone: 'good', text: 'You are signed out.' });
  });
  addMailed(routes, parts);
}

function addMailed(routes: PageRoutes<PageSession>, { accounts, limit }: AccountPagesParts): void {
  const { charactersMin } = accounts.rules;
  // A link that is only opened, such as by a scanner of mails, must not be used up. So both pages have a form.
  routes.get(pageRoutes.verifyEmail, open, async (visit) =>
    verifyPage(visit, { token: parameter(visit, 'token') }),
  );
  routes.post(pageRoutes.verifyEmail, open, async (visit) =>
    submit(visit, {
      work: async () => {
        await limit(visit.request, visit.reply);
        await verifyEmail(accounts, visit.field('token'));
      },
      done: () =>
        visit.redirect(pageRoutes.budgets, { tone: 'good', text: 'Your e-mail address is verified.' }),
      again: (problem) => verifyPage(visit, { token: '', problem }),
    }),
  );
  routes.get(pageRoutes.resetPassword, open, async (visit) => {
    const token = parameter(visit, 'token');
    return token === '' ? forgotPage(visit, {}) : newPasswordPage(visit, { token, charactersMin });
  });
  routes.post(pageRoutes.resetPassword, open, async (visit) => {
    const { token, newPassword } = { token: visit.field('token'), newPassword: visit.field('newPassword') };
    if (token === '') return askForLink(visit, { accounts, limit });
    return submit(visit, {
      work: async () => {
        await limit(visit.request, visit.reply);
        await resetPassword(accounts, { token, newPassword });
      },
      done: () =>
        visit.redirect(pageRoutes.signIn, {
          tone: 'good',
          text: 'Your password was changed. Sign in with the new one.',
        }),
      again: (problem) => newPasswordPage(visit, { token, charactersMin, problem }),
    });
  });
}

function askForLink(visit: PageVisit, { accounts, limit }: AccountPagesParts) {
  const email = visit.field('email').trim();
  return submit(visit, {
    work: async () => {
      await limit(visit.request, visit.reply);
      await resetOrRequest(accounts, filled(visit, ['email']));
    },
    done: () =>
      visit.redirect(pageRoutes.signIn, {
        tone: 'info',
        text: 'If there is an account with this address, a link to set a new password is on its way.',
      }),
    again: (problem) => forgotPage(visit, { email, problem }),
  });
}

async function signIn(visit: PageVisit, { accounts, limit }: AccountPagesParts) {
  const given = { email: visit.field('email').trim(), password: visit.field('password') };
  const next = nextOf(visit);
  const again = (problem: FormProblem) =>
    signInPage(visit, { next, email: given.email, problem }, accounts.oidc);
  const missing = missingOf(given);
  if (missing) return tryAgain(visit, missing, again);
  return submit(visit, {
    work: async () => {
      await limit(visit.request, visit.reply);
      return login(accounts, given, forBrowser);
    },
    done: async ({ sessionId }) => {
      await begin(visit, accounts, sessionId);
      return visit.redirect(next);
    },
    again,
  });
}

async function signUp(visit: PageVisit, { accounts, limit }: AccountPagesParts) {
  const given = { email: visit.field('email').trim(), password: visit.field('password') };
  const { username } = filled(visit, ['username']);
  const next = nextOf(visit);
  const again = (problem: FormProblem) =>
    signUpPage(visit, accounts.rules.charactersMin, { next, email: given.email, username, problem });
  const missing = missingOf(given);
  if (missing) return tryAgain(visit, missing, again);
  return submit(visit, {
    work: async () => {
      await limit(visit.request, visit.reply);
      return register(
        accounts,
        { ...given, username: username?.slice(0, accountLimits.username) },
        forBrowser,
      );
    },
    done: async ({ sessionId, user }) => {
      await begin(visit, accounts, sessionId);
      const text = `Welcome. A mail to verify your address is on its way to ${user.email}.`;
      return visit.redirect(next, { tone: 'good', text });
    },
    again,
  });
}

/** Starts a session in the browser and ends the one before. */
async function begin(visit: PageVisit, { context }: Accounts, sessionId: string): Promise<void> {
  if (visit.who) await endSession(context.db, visit.who);
  visit.signIn({ sessionId });
}

function missingOf(given: Readonly<Record<string, string>>): FormProblem | undefined {
  const missing = Object.keys(given).filter((name) => given[name] === '');
  if (missing.length === 0) return undefined;
  return { status: 422, errors: Object.fromEntries(missing.map((name) => [name, 'is required'])) };
}

function tryAgain<P>(visit: PageVisit, problem: FormProblem, page: (problem: FormProblem) => P): P {
  visit.reply.code(problem.status);
  return page(problem);
}

/** The path to go on to, on this site only. */
function nextOf(visit: PageVisit): string {
  const given = visit.request.method === 'POST' ? visit.field('next') : parameter(visit, 'next');
  const path = ownPath(given);
  return path === '/' ? pageRoutes.budgets : path;
}
