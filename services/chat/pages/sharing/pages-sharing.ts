import { AppError, notFound } from '@octavo/core';
import { pageRoutes, pathOf } from '../../routes.ts';
import { findSession } from '../../sessions/index.ts';
import { findShare, readShared, shareSession, unshareSession } from '../../sharing/index.ts';
import { framed, idIn, type PageParts, type Routes, type Visitor, visitorsOf } from '../pages-visitor.ts';
import { sharedPage, sharePage } from './views-sharing.ts';

/** Adds the page where a chat is shared, and the one that strangers read it on. */
export function addSharing(routes: Routes, parts: PageParts): void {
  const { gate, clock } = parts;
  const access = visitorsOf(parts);
  const reachOf = ({ owner }: Visitor) => ({ owner, nowMs: clock.now() });
  routes.get(pageRoutes.shareChat, { access }, (visitor) => showSharing(parts, visitor));
  routes.post(pageRoutes.shareChat, { access }, async (visitor) => {
    const { visit } = visitor;
    const id = idIn(visit);
    const here = pathOf(pageRoutes.shareChat, id);
    gate.take('session', gate.clientOf(visit.request));
    if (visit.field('deed') === 'end') {
      await unshareSession(parts, reachOf(visitor), id);
      return visit.redirect(here, { tone: 'good', text: 'The link has ended.' });
    }
    try {
      await shareSession(parts, reachOf(visitor), id);
      return visit.redirect(here);
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'validation_failed') throw error;
      return visit.redirect(here, { tone: 'bad', text: error.message });
    }
  });
  routes.get(pageRoutes.shared, { access: 'public' }, async (visit) => {
    // No other site learns the address, and no search engine lists it.
    visit.reply.header('referrer-policy', 'no-referrer').header('x-robots-tag', 'noindex');
    gate.take('read', gate.clientOf(visit.request));
    const shared = await readShared(parts, idIn(visit), clock.now());
    if (!shared) throw new AppError('not_found', 'This chat is not shared, or its link has ended.');
    return sharedPage({ ...visit.publicFrame(), service: 'Chat', navigation: [] }, shared);
  });
}

async function showSharing(parts: PageParts, visitor: Visitor): Promise<string> {
  const { database, clock } = parts;
  const { visit, owner } = visitor;
  const id = idIn(visit);
  const reach = { owner, nowMs: clock.now() };
  const session = await findSession(database, reach, id);
  if (!session) throw notFound('chat', id);
  const share = await findShare(parts, id, reach.nowMs);
  const link = share && {
    url: `${visit.origin}${pathOf(pageRoutes.shared, share.token)}`,
    expiresAtMs: share.expiresAtMs,
  };
  return sharePage(await framed(parts, visitor), session, link);
}
