import type { FastifyRequest } from 'fastify';
import type { AccountSession, Admin } from '#kit/admin/index.ts';
import type { Clock } from '#kit/clock.ts';
import type { Database } from '#kit/db/index.ts';
import { dateTimeOf } from '#kit/drf/date-time.ts';
import { AppError } from '#kit/errors.ts';
import { loadAssets } from '#kit/html/assets.ts';
import { count } from '#kit/html/format.ts';
import { pageNumber } from '#kit/html/pager.ts';
import { type PageRoutes, servePages } from '#kit/html/pages.ts';
import { RenderedPages } from '#kit/html/rendered-pages.ts';
import { shareImage } from '#kit/html/share-image.ts';
import { clientAddress } from '#kit/http/client-address.ts';
import { sendEvents } from '#kit/http/event-stream.ts';
import type { HttpApp } from '#kit/http/server.ts';
import type { LiveValues } from '#kit/live-values.ts';
import {
  hiddenResultsPage,
  listPage,
  type PageVisit,
  type PollView,
  pollErrorPage,
  pollPage,
  resultsPage,
} from './pages-views.ts';
import { type Counts, type Question, type Standing, standingOf, toCounts } from './poll.ts';
import { pageRoutes, pathOf } from './routes.ts';
import { choicesOf, findQuestion, newestPolls, type Tables } from './store.ts';
import type { Votes } from './votes.ts';

export interface PagesOptions {
  readonly database: Database<Tables>;
  readonly votes: Votes;
  readonly live: LiveValues<Counts>;
  readonly admin: Admin<AccountSession>;
  readonly clock: Clock;
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
      errorPage: async (visit, error) => (await admin.errorPage(visit, error)) ?? pollErrorPage(visit, error),
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
      addPollPages(routes, options);
    },
  );
  addStream(app, options);
  addCard(app, options);
}

function addPollPages(routes: PageRoutes<AccountSession>, options: PagesOptions): void {
  const { database, votes } = options;
  routes.get(pageRoutes.poll, open, async (visit) => pollPage(visit, await viewOf(visit, options)));
  routes.post(pageRoutes.vote, { ...open, proof: 'origin' }, async (visit) => {
    const { request, reply } = visit;
    const view = await viewOf(visit, options);
    const { question } = view;
    const choice = Number(/^\d{1,15}$/.exec(visit.field('choice'))?.[0] ?? 0);
    const sessionId = question.duplicates === 'session' ? visit.sessionId : undefined;
    try {
      await votes.cast({ request, reply, question, choice, address: clientAddress(request), sessionId });
    } catch (error) {
      if (!(error instanceof AppError) || error.reason === undefined) throw error;
      return pollPage(visit, {
        ...view,
        choices: await choicesOf(database, question.id),
        problem: error.message,
      });
    }
    return visit.reply.code(302).header('location', pathOf(pageRoutes.results, question.id)).send();
  });
  const rendered = new RenderedPages({ pagesMax: 500 });
  routes.get(pageRoutes.results, open, async (visit) => {
    const view = await viewOf(visit, options);
    const render = view.standing.showsResults ? resultsPage : hiddenResultsPage;
    return visit.hasFlash ? render(visit, view) : rendered.send(visit, view, () => render(visit, view));
  });
}

/** Counts only. Whoever may not see the results gets 403. */
function addStream(app: HttpApp, options: PagesOptions): void {
  app.get(pageRoutes.stream, { ...open, schema: { hide: true } }, async (request, reply) => {
    const { question, standing } = await findPublished(request, options);
    if (!standing.showsResults) throw new AppError('forbidden', 'The results of this poll are hidden.');
    return sendEvents(reply, options.live.watch(question.id));
  });
}

function addCard(app: HttpApp, options: PagesOptions): void {
  app.get(pageRoutes.card, { ...open, schema: { hide: true } }, async (request, reply) => {
    const { question } = await findPublished(request, options);
    // Caches give it to everybody, so it shows nothing that only voters may see.
    const { isClosed, showsResults } = standingOf(question, {
      hasVoted: false,
      now: dateTimeOf(options.clock.now()),
    });
    const choices = await choicesOf(options.database, question.id);
    const facts = [
      count(choices.length, 'choice'),
      ...(showsResults ? [count(toCounts(choices).total, 'vote')] : []),
      isClosed ? 'closed' : 'open',
    ];
    const footer = facts.join(' · ');
    return reply
      .type('image/svg+xml; charset=utf-8')
      .headers({ 'cache-control': 'public, max-age=300', 'cross-origin-resource-policy': 'cross-origin' })
      .send(shareImage({ service: 'Polls', title: question.question_text, footer }));
  });
}

async function viewOf({ request }: PageVisit, options: PagesOptions): Promise<PollView> {
  const found = await findPublished(request, options);
  return { ...found, choices: await choicesOf(options.database, found.question.id) };
}

interface Found {
  readonly question: Question;
  readonly standing: Standing;
  readonly chosen: number | undefined;
}

/** The question of a request's path. Throws `not_found` if there is none, or not yet. */
async function findPublished(
  request: FastifyRequest,
  { database, votes, clock }: PagesOptions,
): Promise<Found> {
  const { id = '' } = request.params as { id?: string };
  const now = dateTimeOf(clock.now());
  const question = /^\d{1,15}$/.test(id) ? await findQuestion(database, Number(id), now) : undefined;
  if (!question) throw new AppError('not_found', 'There is no poll at this address.');
  const chosen = votes.choiceOf(request, question.id);
  return { question, chosen, standing: standingOf(question, { hasVoted: chosen !== undefined, now }) };
}
