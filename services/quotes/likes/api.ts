import type { Clock } from '@octavo/core';
import { Type } from '@octavo/core';
import type { Database } from '@octavo/data';
import type { DrfScope } from '@octavo/drf';
import { notFoundError } from '@octavo/drf/dialect';
import type { HttpApp } from '@octavo/web/server';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type ApiAccess, readerOf } from '../accounts/index.ts';
import { findQuote, maySee } from '../quotes/index.ts';
import { quotePath, routes } from '../routes.ts';
import type { Tables } from '../tables.ts';
import { likeQuote, unlikeQuote } from './store.ts';

const Like = Type.Object({ id: Type.Integer(), quote: Type.Integer() }, { title: 'Like' });
const Id = Type.Object({ id: Type.Integer({ minimum: 1 }) });

export interface LikeApiParts {
  readonly database: Database<Tables>;
  readonly access: ApiAccess;
  readonly clock: Clock;
  readonly limitWrites: (request: FastifyRequest, reply: FastifyReply) => void;
}

export function addLikeApi(
  app: HttpApp,
  drf: DrfScope,
  { database, access, clock, limitWrites }: LikeApiParts,
): void {
  const shared = {
    access: access.reader,
    config: { errors: ['not_found', 'rate_limited'] },
    preHandler: async (request: FastifyRequest, reply: FastifyReply) => limitWrites(request, reply),
  } as const;
  app.post(
    routes.like,
    {
      ...shared,
      schema: {
        tags: ['likes'],
        summary: 'Like a quote',
        description:
          'A quote is liked at most once: the second time, the response is 200 with the same like.',
        params: Id,
        response: { 200: Like, 201: Like },
      },
    },
    async (request, reply) => {
      const like = { quoteId: request.params.id, userId: readerOf(request).id, nowMs: clock.now() };
      const { isNew, id, quote } = await likeQuote(database, like);
      if (isNew) reply.header('location', quotePath(routes.like, quote));
      return reply.code(isNew ? 201 : 200).send({ id, quote });
    },
  );
  app.delete(
    routes.like,
    {
      ...shared,
      schema: {
        tags: ['likes'],
        summary: 'Remove a like',
        description: '204 even if there is no like.',
        params: Id,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      const { id: quoteId } = request.params;
      const reader = readerOf(request);
      const quote = await findQuote(database, quoteId);
      if (!quote || !maySee(quote, reader)) throw notFoundError();
      await unlikeQuote(database, { quoteId, userId: reader.id });
      return reply.code(204).send(null);
    },
  );
  drf.describe(routes.like, {
    name: 'Like',
    description: 'The like of a quote by the caller.',
    access: access.reader,
  });
}
