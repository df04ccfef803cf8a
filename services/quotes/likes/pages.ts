import { AppError, notFound } from '@octavo/core';
import type { Database } from '@octavo/data';
import type { PageRoutes } from '@octavo/web/pages';
import { ownPath } from '@octavo/web/pages';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { findCountedQuote, findQuote, maySee } from '../quotes/index.ts';
import { pageRoutes, quotePath, signInPath } from '../routes.ts';
import type { PageSession, Visitor, Visitors } from '../site.ts';
import type { Tables } from '../tables.ts';
import { likeQuote, unlikeQuote } from './store.ts';

export interface LikePagesParts {
  readonly visitors: Visitors;
  readonly database: Database<Tables>;
  readonly limitWrites: (request: FastifyRequest, reply: FastifyReply) => void;
}

/** The form that likes a quote or takes the like back; browser modules get JSON. */
export function addLikePages(routes: PageRoutes<PageSession>, parts: LikePagesParts): void {
  routes.post(pageRoutes.like, { access: parts.visitors, proof: 'origin' }, (visitor) =>
    like(visitor, parts),
  );
}

async function like(visitor: Visitor, { database, limitWrites }: LikePagesParts): Promise<FastifyReply> {
  const { visit, reader, clock } = visitor;
  const { request, reply } = visit;
  const { id = '' } = request.params as { id?: string };
  const quoteId = /^\d{1,15}$/.test(id) ? Number(id) : 0;
  const back = ownPath(visit.field('back') || quotePath(pageRoutes.quote, quoteId));
  const wantsJson = request.headers.accept?.includes('application/json') ?? false;
  if (!reader) {
    if (wantsJson) throw new AppError('unauthenticated', 'Sign in to like quotes.');
    return visit.redirect(signInPath(back));
  }
  visitor.checkToken();
  limitWrites(request, reply);
  const quote = await findQuote(database, quoteId);
  if (!quote || !maySee(quote, reader)) throw notFound('quote', quoteId);
  const key = { quoteId, userId: reader.id };
  if (visit.field('liked') === '0') await unlikeQuote(database, key);
  else await likeQuote(database, { ...key, nowMs: clock.now() });
  if (!wantsJson) return visit.redirect(back);
  const likes = (await findCountedQuote(database, quoteId))?.likes ?? 0;
  return reply.type('application/json').send({ likes });
}
