import { createHash } from 'node:crypto';
import type { Clock } from '@octavo/core';
import { Type } from '@octavo/core';
import type { Idempotency, NewPost, PostServiceDefinition } from '@octavo/protocols/posts/v1/posts';
import type { Client } from '@octavo/rpc';
import {
  addEntityTag,
  addLinks,
  IdempotencyHeader,
  IfMatch,
  idempotencyKeyOf,
  markReplayed,
  NotModified,
} from '@octavo/web/rest';
import type { HttpApp } from '@octavo/web/server';
import type { FastifyRequest } from 'fastify';
import { callerOf, callOf, type Permits } from '../access/index.ts';
import { callersKey } from '../idempotency.ts';
import { Meta, metaOf, TimedMeta, timedMetaOf } from '../meta.ts';
import { routes } from '../routes.ts';
import { integrationDisabled } from '../status/index.ts';
import { toFilter } from './filter.ts';
import { ListQuery, linksOf, PaginationMeta, toListRequest, toPostPage } from './listing.ts';
import {
  allowedRevisions,
  CreatePostRequest,
  entityTag,
  Post,
  PostParams,
  toPost,
  UpdatePostRequest,
} from './post.ts';

interface Parts {
  readonly permits: Permits;
  readonly posts: Client<PostServiceDefinition>;
  readonly clock: Clock;
}

const IfMatchWithMfa = Type.Object({
  ...IfMatch.properties,
  'x-mfa-verified': Type.Optional(Type.String({ description: 'true: a second factor was verified' })),
});

export function addPosts(app: HttpApp, parts: Parts): void {
  addList(app, parts);
  addCreate(app, parts);
  addRead(app, parts);
  addUpdate(app, parts);
  addDelete(app, parts);
}

function addList(app: HttpApp, { permits, posts, clock }: Parts): void {
  app.get(
    routes.posts,
    {
      access: permits('post', 'read'),
      schema: {
        operationId: 'listPosts',
        tags: ['Posts'],
        summary: 'List posts, page by page',
        description:
          'Returns a page of posts by filters, order and words, with the exact total and links to the other pages.',
        querystring: ListQuery,
        response: {
          200: Type.Object({ data: Type.Array(Post), pagination: PaginationMeta, meta: TimedMeta }),
        },
      },
      config: { errors: [integrationDisabled('inferenceServer')] },
    },
    async (request, reply) => {
      const startedMs = performance.now();
      const { query } = request;
      const listed = toListRequest(toFilter(query), query);
      const found = toPostPage(await posts.listPosts(listed, callOf(request)), query);
      addLinks(reply, linksOf(query, found.pagination));
      const meta = timedMetaOf(request, clock, startedMs);
      return { data: found.posts, pagination: found.pagination, meta };
    },
  );
}

function addCreate(app: HttpApp, { permits, posts, clock }: Parts): void {
  app.post(
    routes.posts,
    {
      access: permits('post', 'write'),
      schema: {
        operationId: 'createPost',
        tags: ['Posts'],
        summary: 'Create a post',
        description:
          'Takes `title` and `body` and returns the new post with its address in `Location`. With an `Idempotency-Key` it is created once.',
        headers: IdempotencyHeader,
        body: CreatePostRequest,
        response: { 201: Type.Object({ data: Post, meta: Meta }) },
      },
      config: { errors: ['conflict'] },
    },
    async (request, reply) => {
      const { uid } = callerOf(request);
      const { userId = uid, title, body } = request.body;
      const given = { userId, title, body };
      const idempotency = idempotencyOf(request, uid, given);
      const { post, replayed } = await posts.createPost({ post: given, idempotency }, callOf(request));
      if (replayed) markReplayed(reply);
      const data = toPost(post);
      const location = routes.post.replace(':id', String(data.id));
      reply.code(201).header('etag', entityTag(post)).header('location', location);
      return reply.send({ data, meta: metaOf(request, clock) });
    },
  );
}

function idempotencyOf(request: FastifyRequest, uid: number, post: NewPost): Idempotency | undefined {
  const key = idempotencyKeyOf(request);
  if (key === undefined) return undefined;
  const digest = createHash('sha256').update(JSON.stringify(post)).digest();
  return { key: callersKey(uid, key), digest };
}

function addRead(app: HttpApp, { permits, posts }: Parts): void {
  app.get(
    routes.post,
    {
      access: permits('post', 'read'),
      schema: {
        operationId: 'getPost',
        tags: ['Posts'],
        summary: 'Read a post',
        description:
          'Returns one post with its `ETag`. With `If-None-Match` the response is 304 if it has not changed.',
        params: PostParams,
        response: { 200: Type.Object({ data: Post }), 304: NotModified },
      },
      config: { errors: ['not_found'] },
    },
    async (request, reply) => {
      const { post } = await posts.getPost({ id: request.params.id }, callOf(request));
      if (addEntityTag(request, reply, entityTag(post))) return reply.code(304).send(null);
      return { data: toPost(post) };
    },
  );
}

function addUpdate(app: HttpApp, { permits, posts }: Parts): void {
  app.put(
    routes.post,
    {
      access: permits('post', 'write'),
      schema: {
        operationId: 'updatePost',
        tags: ['Posts'],
        summary: 'Change a post',
        description:
          'Changes the fields that are given and returns the post. With `If-Match` only if it has not changed since (412).',
        params: PostParams,
        headers: IfMatch,
        body: UpdatePostRequest,
        response: { 200: Type.Object({ data: Post }) },
      },
      config: { errors: ['not_found', 'precondition_failed'] },
    },
    async (request, reply) => {
      const { id } = request.params;
      const { title, body } = request.body;
      const ifRevisions = allowedRevisions(request.headers['if-match']);
      const { post } = await posts.updatePost({ id, title, body, ifRevisions }, callOf(request));
      reply.header('etag', entityTag(post));
      return { data: toPost(post) };
    },
  );
}

function addDelete(app: HttpApp, { permits, posts, clock }: Parts): void {
  app.delete(
    routes.post,
    {
      access: permits('post', 'delete'),
      schema: {
        operationId: 'deletePost',
        tags: ['Posts'],
        summary: 'Delete a post',
        description:
          'Deletes the post, which can be restored for 30 days (`POSTS_KEEP_DELETED_DAYS`). Editors need a second factor; with `If-Match` it happens only if the post has not changed since (412).',
        params: PostParams,
        headers: IfMatchWithMfa,
        response: {
          200: Type.Object({
            data: Type.Object({ id: Type.Integer(), deleted: Type.Literal(true) }),
            message: Type.String(),
            meta: Meta,
          }),
        },
      },
      config: { errors: ['not_found', 'precondition_failed'] },
    },
    async (request) => {
      const { id } = request.params;
      const ifRevisions = allowedRevisions(request.headers['if-match']);
      await posts.deletePost({ id, ifRevisions }, callOf(request));
      const data = { id, deleted: true as const };
      return { data, message: 'Post deleted successfully', meta: metaOf(request, clock) };
    },
  );
}
