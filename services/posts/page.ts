import type { Session } from '#kit/db/index.ts';
import type { Page, PageRequest } from './post.ts';
import { findPosts } from './store.ts';
import { readListPage } from './store-list.ts';
import type { Kept } from './store-search/kept.ts';
import { searchIds } from './store-search/search.ts';
import type { Tables } from './tables.ts';

/** Rows that may be skipped one by one without anybody noticing. */
const skippedMax = 2_000;

/** One page and the exact total, of the session's snapshot. */
export async function readPage(session: Session<Tables>, kept: Kept, request: PageRequest): Promise<Page> {
  if (session.dialect === 'postgres' || hasSqlIndex(request)) return readListPage(session, request);
  const { ids, total } = await searchIds(session, kept, request);
  return { posts: await findPosts(session, ids), total };
}

/** Whether a page takes so little time that it need not go elsewhere for it. */
export function isQuick(request: PageRequest): boolean {
  return hasSqlIndex(request) && request.offset <= skippedMax;
}

/** SQLite has indexes of what grows at its end; random places in an index of titles would make each write slow. */
function hasSqlIndex({ order, term }: PageRequest): boolean {
  return term === undefined && order !== 'title';
}
