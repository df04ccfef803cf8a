import { AppError, type Fields, type Suite, type SuiteSite, signInPath } from '@octavo/core';
import { normalizeEmail } from '@octavo/core/auth';
import { errorSummary, type Frame, field, html, standalone } from '@octavo/web/html';
import type { PageRoutes } from '@octavo/web/pages';
import { visitorOf } from '@octavo/web/server';
import type { PageContext, PageVisit } from '../pages/pages.ts';
import { signInVisit } from '../pages/sign-in.ts';
import { pageRoutes } from '../routes.ts';
import type { Sessions, TokenPair } from '../sessions/index.ts';
import type { SuiteSignIn } from './suite-sign-in.ts';

interface SuitePages {
  readonly pages: PageContext;
  readonly suiteSignIn: SuiteSignIn;
  readonly sessions: Sessions;
  readonly suite: Suite | undefined;
}

/** The setup of the first administrator, and the sign-in to demo accounts. Both need a ticket that only this process gives out. */
export function addSuitePages(routes: PageRoutes<TokenPair>, parts: SuitePages): void {
  const { pages, suiteSignIn, sessions, suite } = parts;
  routes.get(pageRoutes.setup, { access: 'public' }, async (visit) => {
    if (!(await suiteSignIn.canSetUp(ticketOf(visit)))) throw ended();
    return setupPage(pages.frameOf(visit), {});
  });
  routes.post(pageRoutes.setup, { access: 'public' }, async (visit) => {
    const given = visit.field('email');
    const email = normalizeEmail(given);
    if (email === undefined) {
      visit.reply.code(400);
      return setupPage(pages.frameOf(visit), { given, problem: 'must be an e-mail address' });
    }
    const pair = await suiteSignIn.setUp(ticketOf(visit), email, visitorOf(visit.request));
    if (!pair) throw ended();
    await signInVisit(visit, sessions, pair);
    return setUpPage(pages.frameOf(visit), email, suite?.sites()[0]);
  });
  routes.get(pageRoutes.demoSignIn, { access: 'public' }, async (visit) => {
    const found = await suiteSignIn.demoSignIn(ticketOf(visit), visitorOf(visit.request));
    if (!found) throw ended();
    await signInVisit(visit, sessions, found.pair);
    return visit.reply.code(303).header('location', found.target).send();
  });
}

/** Leads to the portal, where the sign-in counts, too. */
function setUpPage(frame: Frame, email: string, portal: SuiteSite | undefined): string {
  const home = portal && `${portal.url}${signInPath}?next=%2F`;
  return standalone(frame, {
    title: 'You are administrator of all services',
    lead: html`as <strong>${email}</strong>`,
    main: html`<p>Add a passkey, so that you can sign in without a mail.</p>
<p class="actions">${portal && html`<a class="button" href="${home}">Go to ${portal.title}</a>`}<a class="button secondary" href="${pageRoutes.home}">Add a passkey</a></p>`,
  });
}

function ticketOf({ request }: PageVisit): string {
  return String((request.params as { ticket?: unknown }).ticket);
}

function ended(): AppError {
  return new AppError(
    'not_found',
    'This link was used or has expired, or there is an administrator already.',
  );
}

function setupPage(
  frame: Frame,
  { given = '', problem }: { given?: string; problem?: string | undefined },
): string {
  const errors: Fields = problem === undefined ? {} : { email: problem };
  return standalone(frame, {
    title: 'Set up Octavo',
    lead: 'Choose the e-mail address of the administrator of all services. This link works once.',
    main: html`${errorSummary(errors, { email: 'E-mail address' })}
<form class="stack" method="post" action="${frame.path}" novalidate>${frame.csrfField}
${field({ name: 'email', type: 'email', label: 'E-mail address', value: given, error: problem, attributes: { autocomplete: 'username', autofocus: true } })}
<button class="wide">Become administrator</button></form>`,
  });
}
