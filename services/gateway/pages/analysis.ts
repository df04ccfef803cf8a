import type { PageRoutes } from '#kit/html/pages.ts';
import { toAnalytics } from '../analytics.ts';
import { pageRoutes } from '../page-routes.ts';
import { analysisPage } from '../views/analysis.ts';
import type { PageParts, Ticket } from './parts.ts';
import type { Readers } from './reader.ts';

export function addAnalysisPage(
  routes: PageRoutes<Ticket>,
  readers: Readers,
  { posts }: Pick<PageParts, 'posts'>,
): void {
  routes.get(pageRoutes.analysis, { access: readers('post', 'read') }, async ({ may, call, frame }) => {
    const counted = await posts.analytics(call);
    const { postsPerHour } = counted;
    return analysisPage(frame(), { analysis: toAnalytics(counted), postsPerHour, mayWrite: may.write });
  });
}
