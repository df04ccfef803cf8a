import { type AccountSession, type Admin, forgetInHistory } from '@octavo/admin';
import { AppError } from '@octavo/core';
import { dateTimeOf } from '@octavo/core/text';
import type { WriteSession } from '@octavo/data';
import type { PageTokens } from '@octavo/drf';
import { addOwnAccountPages } from '@octavo/people/accounts';
import type { OidcSignIn } from '@octavo/people/sign-in';
import { layout, pageNumber, qrCodeSvg } from '@octavo/web/html';
import { loadAssets, type PageRoutes, servePages } from '@octavo/web/pages';
import type { Pictures } from '@octavo/web/pictures';
import type { HttpApp } from '@octavo/web/server';
import { clientAddress } from '@octavo/web/server';
import { addMakingPages, formAgain, type MakingOptions } from './making/pages.ts';
import { makerFrame } from './making/pages-views.ts';
import { type PageVisit, viewOf } from './pages-poll.ts';
import { listPage, pollErrorPage, pollPage } from './pages-views.ts';
import { type Question, stateFor, takesSeveral } from './poll.ts';
import { pollCard } from './results/card.ts';
import { addResultPages, addResultStream, type ResultOptions } from './results/pages.ts';
import { pageRoutes, pathOf } from './routes.ts';
import { choicesOf, newestPolls, type Tables } from './store.ts';
import type { Votes } from './votes/votes.ts';

export interface PagesOptions extends ResultOptions {
  readonly votes: Votes;
  readonly admin: Admin<AccountSession>;
  readonly oidc: OidcSignIn<AccountSession> | undefined;
  readonly making: MakingOptions;
  readonly pictures: Pictures;
  /** Tokens with which who is signed in tries the API at `/docs`. */
  readonly pageTokens: PageTokens;
  /** Encrypts cookies. */
  readonly secret: string;
  /** The public address, if it is set; else that of each request. */
  readonly publicUrl: string | undefined;
}

const open = { access: 'public' } as const;
const sessionSeconds = 30 * 86_400;

/** Adds the pages, the stream of live results and the pictures for links that are shared. */
export function addPages(app: HttpApp, options: PagesOptions): void {
  const { admin, clock, secret } = options;
  const assets = loadAssets(new URL('./assets/', import.meta.url));
  servePages<AccountSession>(
    app,
    {
      name: 'polls',
      secret,
      sessionSeconds,
      clock,
      assets,
      publicUrl: options.publicUrl,
      async apiToken(visit) {
        const user = visit.who && (await options.making.accounts.sessions.userOf(visit.who.token));
        return user && options.pageTokens.issue(user);
      },
      errorPage: async (visit, error) =>
        (await formAgain(visit, error, options.making)) ??
        (await admin.errorPage(visit, error)) ??
        pollErrorPage(visit, error),
    },
    (routes) => {
      admin.addRoutes(routes);
      routes.get(pageRoutes.home, open, async (visit) =>
        visit.reply.code(302).header('location', pageRoutes.polls).send(),
      );
      routes.get(pageRoutes.polls, open, async (visit) => {
        const now = dateTimeOf(clock.now());
        const list = await newestPolls(options.database, now, pageNumber(visit.request.query));
        return listPage(visit, { ...list, now });
      });
      addMakingPages(routes, options.making);
      addAccountPages(routes, options);
      addPollPages(routes, options);
      addResultPages(routes, options);
    },
  );
  addResultStream(app, options);
  addCard(app, options);
}

function addAccountPages(
  routes: PageRoutes<AccountSession>,
  { making: { accounts }, oidc }: PagesOptions,
): void {
  addOwnAccountPages(routes, {
    accounts,
    oidc,
    service: 'Polls',
    paths: { signIn: '/admin/login/', home: pageRoutes.polls },
    erased: ['Your API tokens'],
    kept: ['Polls that you made, as of a former user', 'Votes, which cannot be traced to you'],
    forget: (session: WriteSession<Tables>, id) => forgetInHistory(session, { model: 'auth/user', id }),
    render: (visit, user, page) => layout(makerFrame({ visit, user }), page),
  });
}

function addPollPages(routes: PageRoutes<AccountSession>, options: PagesOptions): void {
  const { database, votes, voteCookie } = options;
  routes.get(pageRoutes.qrCode, open, async ({ request, reply, origin }) => {
    const { question } = await viewOf({ request, reply }, options);
    return reply
      .type('image/svg+xml; charset=utf-8')
      .header('cache-control', 'public, max-age=300')
      .send(qrCodeSvg(`${origin}${pathOf(pageRoutes.poll, question.id)}`));
  });
  routes.get(pageRoutes.poll, open, async (visit) => {
    const view = await viewOf(visit, options);
    return pollPage(visit, view, options.making.tokens.takeAddress(visit, view.question.id));
  });
  routes.post(pageRoutes.vote, { ...open, proof: 'origin' }, async (visit) => {
    const { request, reply } = visit;
    const view = await viewOf(visit, options);
    const { question } = view;
    const choices = pickedChoices(visit, question);
    const sessionId = question.duplicates === 'session' ? visit.sessionId : undefined;
    try {
      const hasVoted = view.chosen.length > 0;
      await votes.cast({ question, choices, hasVoted, address: clientAddress(request), sessionId });
      voteCookie.remember(reply, question.id, choices);
    } catch (error) {
      if (!(error instanceof AppError) || error.reason === undefined) throw error;
      return pollPage(visit, {
        ...view,
        choices: await choicesOf(database, question.id),
        picked: choices,
        problem: error.message,
      });
    }
    return visit.reply.code(302).header('location', pathOf(pageRoutes.results, question.id)).send();
  });
}

/** The ids of a form that can be ids. Where only one counts it is the last, as for any repeated field. */
function pickedChoices(visit: PageVisit, question: Question): readonly number[] {
  const sent = takesSeveral(question) ? visit.values('choice') : [visit.field('choice')];
  const ids = sent.filter((id) => /^\d{1,15}$/.test(id)).map(Number);
  return [...new Set(ids)];
}

function addCard(app: HttpApp, options: PagesOptions): void {
  app.get(pageRoutes.card, { ...open, schema: { hide: true } }, async (request, reply) => {
    const poll = await viewOf({ request, reply }, options);
    // Caches give it to everybody, so it shows nothing that only voters may see.
    const state = stateFor(poll.question, { hasVoted: false, now: dateTimeOf(options.clock.now()) });
    return options.pictures.send(request, reply, { picture: pollCard(poll, state), maxAgeSeconds: 300 });
  });
}
