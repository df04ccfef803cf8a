import { AppError } from '#kit/errors.ts';
import type { PageRoutes } from '#kit/html/pages.ts';
import { sendRanged } from '#kit/http/ranges.ts';
import { pageRoutes } from '../page-routes.ts';
import type { StoredExports } from '../store.ts';
import { headersOf } from '../stored-export.ts';
import { exportsPageSize, type StoredExportsView, storedExportsPage } from '../views/exports.ts';
import type { PageParts, Ticket } from './parts.ts';
import type { Readers } from './reader.ts';

/** The stored exports, and their files for a browser that has a session and no token. */
export function addStoredExportPages(
  routes: PageRoutes<Ticket>,
  readers: Readers,
  { exports }: Pick<PageParts, 'exports'>,
): void {
  routes.get(pageRoutes.storedExports, { access: readers('export', 'read') }, async ({ visit, frame }) => {
    const { page } = visit.request.query as { page?: unknown };
    const view = await viewOf(exports, Number(page));
    if (view.state !== 'listed') visit.reply.code(503);
    return storedExportsPage(frame(), view, visit.request.id);
  });
  if (!exports) return;
  routes.get(pageRoutes.storedExport, { access: readers('export', 'read') }, async ({ visit }) => {
    const { name = '' } = visit.request.params as { name?: string };
    const object = await exports.find(name);
    visit.reply.headers(headersOf(object));
    return sendRanged(visit.reply, { ...object, read: (range) => exports.read(object, range) });
  });
}

async function viewOf(exports: StoredExports | undefined, wantedPage: number): Promise<StoredExportsView> {
  if (!exports) return { state: 'off' };
  try {
    const all = await exports.list();
    const pages = Math.ceil(all.length / exportsPageSize) || 1;
    const page = Number.isInteger(wantedPage) ? Math.min(Math.max(wantedPage, 1), pages) : 1;
    const objects = all.slice((page - 1) * exportsPageSize, page * exportsPageSize);
    return { state: 'listed', objects, page, total: all.length, failure: exports.failure };
  } catch (error) {
    if (error instanceof AppError && error.code === 'unavailable')
      return { state: 'down', reason: error.message };
    throw error;
  }
}
