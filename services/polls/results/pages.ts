import type { AccountSession } from '@octavo/admin';
import { AppError } from '@octavo/core';
import { byteOrderMark, dateTimeOf } from '@octavo/core/text';
import type { PageRoutes } from '@octavo/web/pages';
import { RenderedPages } from '@octavo/web/pages';
import type { HttpApp } from '@octavo/web/server';
import { sendEvents } from '@octavo/web/server';
import { type PollLookup, viewOf } from '../pages-poll.ts';
import { type Counts, stateFor } from '../poll.ts';
import { pageRoutes } from '../routes.ts';
import type { WatchedPoll } from '../store.ts';
import { resultLines } from './export.ts';
import { votesOverTimePage } from './pages-times.ts';
import { embedPage, hiddenResultsPage, resultsPage, screenPage } from './pages-views.ts';
import { VoteTimes } from './votes-over-time.ts';
import type { WatchedValues } from './watched-values.ts';

export interface ResultOptions extends PollLookup {
  readonly live: WatchedValues<WatchedPoll>;
}

const open = { access: 'public' } as const;

/** Adds the results as a page, as a file, for a big screen and for frames on other sites. */
export function addResultPages(routes: PageRoutes<AccountSession>, lookup: PollLookup): void {
  const rendered = new RenderedPages({ pagesMax: 500 });
  const times = new VoteTimes(lookup);
  routes.get(pageRoutes.results, open, async (visit) => {
    const view = await viewOf(visit, lookup);
    const { sort } = visit.request.query as { sort?: unknown };
    const order = sort === 'votes' ? 'votes' : 'asked';
    const render = () =>
      view.state.showsResults ? resultsPage(visit, view, order) : hiddenResultsPage(visit, view);
    return visit.hasFlash ? render() : rendered.send(visit, { ...view, order }, render);
  });
  routes.get(pageRoutes.resultsFile, open, async ({ request, reply }) => {
    const view = await viewOf({ request, reply }, lookup);
    if (!view.state.showsResults) throw hiddenResults();
    return reply
      .type('text/csv; charset=utf-8; header=present')
      .header('content-disposition', `attachment; filename="poll-${view.question.id}.csv"`)
      .send([byteOrderMark, ...resultLines(view, view.state)].join(''));
  });
  routes.get(pageRoutes.votesOverTime, open, async (visit) => {
    const view = await viewOf(visit, lookup);
    if (!view.state.showsResults) return hiddenResultsPage(visit, view);
    return votesOverTimePage(visit, view, await times.of(view));
  });
  routes.get(pageRoutes.screen, open, async (visit) => screenPage(visit, await viewOf(visit, lookup)));
  routes.get(pageRoutes.embed, { ...open, isEmbedded: true }, async (visit) =>
    embedPage(visit, await viewOf(visit, lookup)),
  );
}

/** Adds the stream of counts. It is 403 for those who may not see the results, and ends when they become hidden. */
export function addResultStream(app: HttpApp, options: ResultOptions): void {
  app.get(pageRoutes.stream, { ...open, schema: { hide: true } }, async (request, reply) => {
    const { question, state, chosen } = await viewOf({ request, reply }, options);
    if (!state.showsResults) throw hiddenResults();
    return sendEvents(reply, visibleCounts(options, { id: question.id, hasVoted: chosen.length > 0 }));
  });
}

async function* visibleCounts(
  { live, clock }: ResultOptions,
  { id, hasVoted }: { id: number; hasVoted: boolean },
): AsyncGenerator<Counts | undefined, void, undefined> {
  for await (const watched of live.watch(id)) {
    const now = dateTimeOf(clock.now());
    const isVisible = ({ question }: WatchedPoll) =>
      question.pub_date <= now &&
      question.visibility !== 'hidden' &&
      stateFor(question, { hasVoted, now }).showsResults;
    if (watched && !isVisible(watched)) return;
    yield watched?.counts;
  }
}

function hiddenResults(): AppError {
  return new AppError('forbidden', 'The results of this poll are hidden.');
}
