import { AppError } from '#kit/errors.ts';
import type { PageRoutes } from '#kit/html/pages.ts';
import { integrationDisabled } from '../integrations.ts';
import { pageRoutes } from '../page-routes.ts';
import { type ReanalysesView, reanalysesPage } from '../views/reanalyses.ts';
import type { PageParts, Ticket } from './parts.ts';
import type { Reader, Readers } from './reader.ts';

type Parts = Pick<PageParts, 'posts' | 'integrations'>;

const shownMax = 20;

export function addReanalysisPages(routes: PageRoutes<Ticket>, readers: Readers, parts: Parts): void {
  const { posts, integrations } = parts;
  const refuseOff = () => {
    if (!integrations.messageBroker) throw integrationDisabled('messageBroker');
  };
  routes.get(pageRoutes.reanalyses, { access: readers('post', 'read') }, async (reader) => {
    const view = await viewOf(parts, reader);
    if (view.state !== 'listed') reader.visit.reply.code(503);
    return reanalysesPage(reader.frame(), view);
  });
  routes.post(pageRoutes.reanalyses, { access: readers('post', 'write') }, async ({ visit, call }) => {
    refuseOff();
    await posts.reanalyze(call);
    return visit.redirect(pageRoutes.reanalyses, { tone: 'good', text: 'The reanalysis is queued.' });
  });
  routes.post(pageRoutes.cancelReanalysis, { access: readers('post', 'write') }, async ({ visit, call }) => {
    refuseOff();
    const { jobId = '' } = visit.request.params as { jobId?: string };
    return visit.redirect(pageRoutes.reanalyses, await canceled(() => posts.cancelReanalysis(jobId, call)));
  });
}

async function viewOf({ posts, integrations }: Parts, { call, may, visit }: Reader): Promise<ReanalysesView> {
  if (!integrations.messageBroker) return { state: 'off' };
  try {
    const jobs = await posts.latestReanalyses(shownMax, call);
    return { state: 'listed', jobs, mayWrite: may.write };
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'unavailable') throw error;
    return { state: 'down', reason: error.message, requestId: visit.request.id };
  }
}

/** What to tell of it; one that has ended meanwhile is no failure of the reader's. */
async function canceled(cancel: () => Promise<unknown>) {
  try {
    await cancel();
    return { tone: 'good' as const, text: 'The reanalysis is canceled.' };
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'conflict') throw error;
    return { tone: 'info' as const, text: 'The reanalysis had ended already.' };
  }
}
