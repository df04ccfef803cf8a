import { forgetInHistory } from '@octavo/admin';
import type { WriteSession } from '@octavo/data';
import { type Accounts, addOwnAccountPages, type User } from '@octavo/people/accounts';
import { type OidcSignIn, passwordsOff } from '@octavo/people/sign-in';
import { type FormProblem, formProblem, site } from '@octavo/web/html';
import type { PageRoutes } from '@octavo/web/pages';
import { ownPath, type Visit } from '@octavo/web/pages';
import type { LimitSharedRequest } from '@octavo/web/server';
import { visitorOf } from '@octavo/web/server';
import type { FastifyReply } from 'fastify';
import { pageRoutes } from '../routes.ts';
import type { PageSession, Visitor, Visitors } from '../site.ts';
import type { Tables } from '../tables.ts';
import { signInPage, signUpPage } from './views.ts';

export interface AccountPagesParts {
  readonly visitors: Visitors;
  readonly accounts: Accounts;
  readonly oidc: OidcSignIn<PageSession> | undefined;
  readonly limitSignIns: LimitSharedRequest;
  readonly limitSignUps: LimitSharedRequest;
}

export function addAccountPages(routes: PageRoutes<PageSession>, parts: AccountPagesParts): void {
  const { visitors } = parts;
  routes.get(pageRoutes.signIn, { access: visitors }, async ({ visit, reader }) =>
    reader ? visit.redirect(nextOf(visit)) : signInPage(visit, { next: nextOf(visit) }, parts.oidc),
  );
  routes.post(pageRoutes.signIn, { access: visitors }, (visitor) => signIn(visitor, parts));
  routes.get(pageRoutes.signUp, { access: visitors }, async ({ visit, reader }) =>
    reader || parts.oidc?.isOnly
      ? visit.redirect(reader ? nextOf(visit) : pageRoutes.signIn)
      : signUpPage(visit, parts.accounts, { next: nextOf(visit) }),
  );
  routes.post(pageRoutes.signUp, { access: visitors }, (visitor) => signUp(visitor, parts));
  routes.post(pageRoutes.signOut, { access: 'public' }, (visit) => signOut(visit, parts));
  addOwnAccountPages(routes, {
    accounts: parts.accounts,
    oidc: parts.oidc,
    service: 'Quotes',
    paths: pageRoutes,
    erased: ['Your likes', 'Your reports, and your changes that wait for a decision'],
    kept: ['Quotes that you added and comments that you wrote, as of a former user'],
    forget: (session: WriteSession<Tables>, id) => forgetInHistory(session, { model: 'auth/user', id }),
    render: async (visit, _user, page) => site((await visitors(visit)).frame(), page),
  });
}

async function signIn(visitor: Visitor, { accounts, limitSignIns, oidc }: AccountPagesParts) {
  if (oidc?.isOnly) throw passwordsOff();
  const { visit } = visitor;
  const [username, password] = [visit.field('username').trim(), visit.field('password')];
  const next = nextOf(visit);
  const missing = missingOf({ username, password });
  if (missing)
    return tryAgain(visit, missing, (problem) => signInPage(visit, { next, username, problem }, oidc));
  try {
    await limitSignIns(visit.request, visit.reply);
    await start(visit, accounts, await accounts.signIn({ username, password }));
  } catch (error) {
    const problem = formProblem(error, {});
    return tryAgain(visit, problem, () => signInPage(visit, { next, username, problem }, oidc));
  }
  return visit.redirect(next);
}

async function signUp({ visit }: Visitor, { accounts, limitSignUps, oidc }: AccountPagesParts) {
  if (oidc?.isOnly) throw passwordsOff();
  const given = {
    username: visit.field('username').trim(),
    email: visit.field('email').trim(),
    password: visit.field('password'),
  };
  const next = nextOf(visit);
  const view = { next, username: given.username, email: given.email };
  const missing = missingOf({ username: given.username, password: given.password });
  if (missing)
    return tryAgain(visit, missing, (problem) => signUpPage(visit, accounts, { ...view, problem }));
  try {
    await limitSignUps(visit.request, visit.reply);
    await start(visit, accounts, await accounts.create(given));
  } catch (error) {
    const problem = formProblem(error, { WEAK_PASSWORD: 'password', USERNAME_TAKEN: 'username' });
    return tryAgain(visit, problem, () => signUpPage(visit, accounts, { ...view, problem }));
  }
  return visit.redirect(next, { tone: 'good', text: `Welcome, ${given.username}.` });
}

async function signOut(
  visit: Visit<PageSession>,
  { accounts, oidc }: AccountPagesParts,
): Promise<FastifyReply> {
  const { token } = visit.who ?? {};
  if (token !== undefined) await accounts.sessions.end(token);
  visit.signOut();
  const key = token === undefined ? undefined : accounts.sessions.keyOf(token);
  if (await oidc?.signOut(visit, key)) return visit.reply;
  return visit.redirect(pageRoutes.home);
}

async function start(visit: Visit<PageSession>, accounts: Accounts, user: User): Promise<void> {
  const token = await accounts.sessions.start(user, visitorOf(visit.request));
  visit.signIn({ token });
}

function missingOf(given: Readonly<Record<string, string>>): FormProblem | undefined {
  const names = Object.keys(given).filter((name) => given[name] === '');
  if (names.length === 0) return undefined;
  return { status: 400, errors: Object.fromEntries(names.map((name) => [name, 'is required'])) };
}

function tryAgain(
  visit: Visit<PageSession>,
  problem: FormProblem,
  page: (problem: FormProblem) => string | Promise<string>,
): string | Promise<string> {
  visit.reply.code(problem.status);
  return page(problem);
}

/** The path to go on to, on this site only. */
function nextOf(visit: Visit<PageSession>): string {
  const { next } = visit.request.query as { next?: unknown };
  const given = visit.request.method === 'POST' ? visit.field('next') : [next].flat().at(-1);
  return typeof given === 'string' ? ownPath(given) : pageRoutes.home;
}
