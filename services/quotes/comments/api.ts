import type { Clock } from '@octavo/core';
import { Type } from '@octavo/core';
import type { Database } from '@octavo/data';
import {
  addPagingHeaders,
  bodyTypes,
  type DrfScope,
  pagingParameters,
  readPaging,
  serializer,
} from '@octavo/drf';
import { notFoundError, text } from '@octavo/drf/dialect';
import type { HttpApp } from '@octavo/web/server';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type ApiAccess, possibleReaderOf, type Reader, readerOf } from '../accounts/index.ts';
import { findQuote, maySee } from '../quotes/index.ts';
import { commentPath, routes } from '../routes.ts';
import type { Tables } from '../tables.ts';
import { type Comment, commentTextMax, deletable } from './comment.ts';
import { addComment, countComments, deleteComment, findComment, listComments } from './store.ts';

const body = serializer({ text: text({ maxLength: commentTextMax }) }, { title: 'CommentRequest' });

const CommentSchema = Type.Object(
  {
    id: Type.Integer(),
    quote: Type.Integer(),
    user: Type.String({ description: 'User name of the author' }),
    text: Type.String(),
    created_at: Type.String({ format: 'date-time' }),
  },
  { title: 'Comment' },
);
const Id = Type.Object({ id: Type.Integer({ minimum: 1 }) });
const Ids = Type.Object({ id: Type.Integer({ minimum: 1 }), commentId: Type.Integer({ minimum: 1 }) });

export interface CommentApiParts {
  readonly database: Database<Tables>;
  readonly access: ApiAccess;
  readonly clock: Clock;
  readonly limitWrites: (request: FastifyRequest, reply: FastifyReply) => void;
}

export function addCommentApi(app: HttpApp, drf: DrfScope, parts: CommentApiParts): void {
  addReads(app, parts);
  addWrites(app, parts);
  const { open, reader } = parts.access;
  drf.describe(routes.comments, {
    name: 'Comment List',
    description: 'Comments on a quote by ascending id.',
    access: open,
  });
  drf.describe(routes.comment, { name: 'Comment Instance', description: 'One comment.', access: reader });
}

function addReads(app: HttpApp, { database, access }: CommentApiParts): void {
  app.get(
    routes.comments,
    {
      access: access.open,
      config: { errors: ['not_found'] },
      schema: {
        tags: ['comments'],
        summary: 'List the comments on a quote',
        description: 'By ascending id.',
        params: Id,
        querystring: Type.Object(pagingParameters),
        response: { 200: Type.Array(CommentSchema) },
      },
    },
    async (request, reply) => {
      const quoteId = await visible(database, request.params.id, possibleReaderOf(request));
      const paging = readPaging(request.query);
      const comments = await listComments(database, { quoteId, ...paging });
      addPagingHeaders(request, reply, { paging, total: await countComments(database, quoteId) });
      return comments.map(toJson);
    },
  );
}

function addWrites(app: HttpApp, { database, access, clock, limitWrites }: CommentApiParts): void {
  const shared = {
    access: access.reader,
    preHandler: async (request: FastifyRequest, reply: FastifyReply) => limitWrites(request, reply),
  } as const;
  app.post(
    routes.comments,
    {
      ...shared,
      config: { errors: ['not_found', 'rate_limited'] },
      schema: {
        tags: ['comments'],
        summary: 'Comment on a quote',
        description:
          'Takes a `text` and returns the comment with its id and author. Everybody can read it at once.',
        params: Id,
        body: body.schema,
        consumes: bodyTypes,
        response: { 201: CommentSchema },
      },
    },
    async (request, reply) => {
      const reader = readerOf(request);
      const quoteId = await visible(database, request.params.id, reader);
      const { text } = await body.parse(request.body);
      const nowMs = clock.now();
      const id = await addComment(database, { quoteId, userId: reader.id, text, nowMs });
      reply.code(201).header('location', commentPath(routes.comment, quoteId, id));
      return toJson({ id, quoteId, userId: reader.id, username: reader.username, text, createdAtMs: nowMs });
    },
  );
  app.get(
    routes.comment,
    {
      access: access.open,
      config: { errors: ['not_found'] },
      schema: {
        tags: ['comments'],
        summary: 'Get a comment',
        description: 'Returns one comment of a quote. 404 if it belongs to another quote.',
        params: Ids,
        response: { 200: CommentSchema },
      },
    },
    async (request) => {
      const { id, commentId } = request.params;
      const quoteId = await visible(database, id, possibleReaderOf(request));
      const comment = await findComment(database, { quoteId, id: commentId });
      if (!comment) throw notFoundError();
      return toJson(comment);
    },
  );
  app.delete(
    routes.comment,
    {
      ...shared,
      config: { errors: ['forbidden', 'not_found', 'rate_limited'] },
      schema: {
        tags: ['comments'],
        summary: 'Delete a comment',
        description: 'Only its author and staff may delete a comment.',
        params: Ids,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      const { id: quoteId, commentId: id } = request.params;
      const reader = readerOf(request);
      await visible(database, quoteId, reader);
      const comment = await findComment(database, { quoteId, id });
      await deleteComment(database, deletable(comment, { id, reader }).id);
      return reply.code(204).send(null);
    },
  );
}

/** The id of a quote that the caller may see. */
async function visible(database: Database<Tables>, id: number, reader: Reader | undefined): Promise<number> {
  const quote = await findQuote(database, id);
  if (!quote || !maySee(quote, reader)) throw notFoundError();
  return id;
}

function toJson({ id, quoteId, username, text, createdAtMs }: Comment) {
  return { id, quote: quoteId, user: username, text, created_at: new Date(createdAtMs).toISOString() };
}
