import { matchesAny } from '#kit/http/entity-tags.ts';
import { Type } from '#kit/schema.ts';
import { callerOf } from './api-guard.ts';
import { metaOf, timedMetaOf } from './api-meta.ts';
import type { ApiParts } from './api-parts.ts';
import { dataOf, dataWithMeta, Meta, operation, PostId, TimedMeta } from './api-schemas.ts';
import { callOf } from './call.ts';
import { ListQuery, linksOf, PaginationMeta, toListing } from './listing.ts';
import { CreatePostRequest, Post, UpdatePostRequest } from './post.ts';
import { link, routes } from './routes.ts';

type Parts = Pick<ApiParts, 'app' | 'posts' | 'permits' | 'clock'>;

const Conditional = Type.Object({
  'if-match': Type.Optional(Type.String({ description: 'Entity tags, one of which must be current' })),
});

const Confirmed = Type.Object({
  ...Conditional.properties,
  'x-mfa-verified': Type.Optional(Type.String({ description: 'true: a second factor was verified' })),
});

export function addPosts(parts: Parts): void {
  addList(parts);
  addCreate(parts);
  addRead(parts);
  addUpdate(parts);
  addDelete(parts);
}

function addList({ app, posts, permits, clock }: Parts): void {
  const Listed = Type.Object({ data: Type.Array(Post), pagination: PaginationMeta, meta: TimedMeta });
  app.get(
    routes.posts,
    {
      access: permits('post', 'read'),
      schema: {
        ...operation('listPosts', 'List posts, page by page'),
        querystring: ListQuery,
        response: { 200: Listed },
      },
    },
    async (request, reply) => {
      const listing = toListing(request.query);
      const { posts: data, pagination } = await posts.list(listing, callOf(request));
      const links = linksOf(listing, pagination);
      if (links !== '') reply.header('link', links);
      return { data, pagination, meta: timedMetaOf(reply, clock) };
    },
  );
}

function addCreate({ app, posts, permits, clock }: Parts): void {
  app.post(
    routes.posts,
    {
      access: permits('post', 'write'),
      schema: {
        ...operation('createPost', 'Create a post'),
        body: CreatePostRequest,
        response: { 201: dataWithMeta(Post) },
      },
    },
    async (request, reply) => {
      const { userId = callerOf(request).uid, title, body } = request.body;
      const { post, tag } = await posts.create({ userId, title, body }, callOf(request));
      const location = routes.post.replace(':id', String(post.id));
      reply.code(201).header('etag', tag).header('location', link(location, {}));
      return reply.send({ data: post, meta: metaOf(request, clock) });
    },
  );
}

function addRead({ app, posts, permits }: Parts): void {
  app.get(
    routes.post,
    {
      access: permits('post', 'read'),
      schema: {
        ...operation('getPost', 'Read a post'),
        params: PostId,
        response: { 200: dataOf(Post), 304: Type.Null({ description: 'Not changed since If-None-Match' }) },
      },
      config: { errors: ['not_found'] },
    },
    async (request, reply) => {
      const { post, tag } = await posts.get(request.params.id, callOf(request));
      reply.header('etag', tag);
      const known = request.headers['if-none-match'];
      if (known !== undefined && matchesAny(known, tag)) return reply.code(304).send(null);
      return { data: post };
    },
  );
}

function addUpdate({ app, posts, permits }: Parts): void {
  app.put(
    routes.post,
    {
      access: permits('post', 'write'),
      schema: {
        ...operation('updatePost', 'Change a post'),
        params: PostId,
        headers: Conditional,
        body: UpdatePostRequest,
        response: { 200: dataOf(Post) },
      },
      config: { errors: ['not_found', 'precondition_failed'] },
    },
    async (request, reply) => {
      const options = { ...callOf(request), ifMatch: request.headers['if-match'] };
      const { post, tag } = await posts.update(request.params.id, request.body, options);
      reply.header('etag', tag);
      return { data: post };
    },
  );
}

function addDelete({ app, posts, permits, clock }: Parts): void {
  const Deleted = Type.Object({
    data: Type.Object({ id: Type.Integer(), deleted: Type.Literal(true) }),
    message: Type.String(),
    meta: Meta,
  });
  app.delete(
    routes.post,
    {
      access: permits('post', 'delete'),
      schema: {
        ...operation('deletePost', 'Delete a post'),
        params: PostId,
        headers: Confirmed,
        response: { 200: Deleted },
      },
      config: { errors: ['not_found', 'precondition_failed'] },
    },
    async (request) => {
      const { id } = request.params;
      await posts.remove(id, { ...callOf(request), ifMatch: request.headers['if-match'] });
      const data = { id, deleted: true as const };
      return { data, message: 'Post deleted successfully', meta: metaOf(request, clock) };
    },
  );
}
