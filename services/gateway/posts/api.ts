import { createHash } from 'node:crypto';
import type { Clock } from '#kit/clock.ts';
import type { HttpApp } from '#kit/http/access.ts';
import { matchesAny } from '#kit/http/entity-tags.ts';
import type { Client } from '#kit/rpc/index.ts';
import { Type } from '#kit/schema.ts';
import type { Idempotency, NewPost, PostServiceDefinition } from '#proto/posts/v1/posts.ts';
import { callerOf, callOf, type Permits } from '../access/index.ts';
import { callersKey, IdempotencyHeader, idempotencyKeyOf } from '../idempotency.ts';
import { Meta, metaOf, TimedMeta, timedMetaOf } from '../meta.ts';
import { routes } from '../routes.ts';
import { integrationDisabled } from '../status/index.ts';
import { ListQuery, linksOf, PaginationMeta, toFilter, toListRequest, toPostPage } from './listing.ts';
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

const IfMatch = Type.Object({
  'if-match': Type.Optional(Type.String({ description: 'Entity tags, one of which must be current' })),
});

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
      const links = linksOf(query, found.pagination);
      if (links !== '') reply.header('link', links);
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
      const idempotency = idempotencyOf(request.headers['idempotency-key'], uid, given);
      const { post, replayed } = await posts.createPost({ post: given, idempotency }, callOf(request));
      if (replayed) reply.header('idempotent-replayed', 'true');
      const data = toPost(post);
      const location = routes.post.replace(':id', String(data.id));
      reply.code(201).header('etag', entityTag(post)).header('location', location);
      return reply.send({ data, meta: metaOf(request, clock) });
    },
  );
}

function idempotencyOf(header: string | undefined, uid: number, post: NewPost): Idempotency | undefined {
  const key = idempotencyKeyOf(header);
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
        params: PostParams,
        response: {
          200: Type.Object({ data: Post }),
          304: Type.Null({ description: 'Not changed since If-None-Match' }),
        },
      },
      config: { errors: ['not_found'] },
    },
    async (request, reply) => {
      const { post } = await posts.getPost({ id: request.params.id }, callOf(request));
      const tag = entityTag(post);
      reply.header('etag', tag);
      const ifNoneMatch = request.headers['if-none-match'];
      if (ifNoneMatch !== undefined && matchesAny(ifNoneMatch, tag)) return reply.code(304).send(null);
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
