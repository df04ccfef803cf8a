import type { Clock } from '@octavo/core';
import { Type } from '@octavo/core';
import type { PostServiceDefinition } from '@octavo/protocols/posts/v1/posts';
import type { Client } from '@octavo/rpc';
import { addLinks } from '@octavo/web/rest';
import type { HttpApp } from '@octavo/web/server';
import { callOf, type Permits } from '../access/index.ts';
import { Meta, metaOf, TimedMeta, timedMetaOf } from '../meta.ts';
import { link, routes } from '../routes.ts';
import { linksTo, PageQuery, PaginationMeta, paginationOf } from './listing.ts';
import { DeletedPost, Post, PostParams, toDeletedPost, toPost } from './post.ts';

interface Parts {
  readonly permits: Permits;
  readonly posts: Client<PostServiceDefinition>;
  readonly clock: Clock;
}

/** Adds the list of deleted posts, and restoring one. */
export function addDeletedPosts(app: HttpApp, { permits, posts, clock }: Parts): void {
  app.get(
    routes.deletedPosts,
    {
      access: permits('post', 'write'),
      schema: {
        operationId: 'listDeletedPosts',
        tags: ['Posts'],
        summary: 'List deleted posts',
        description: 'Returns a page of the posts that can still be restored, the latest deleted first.',
        querystring: PageQuery,
        response: {
          200: Type.Object({ data: Type.Array(DeletedPost), pagination: PaginationMeta, meta: TimedMeta }),
        },
      },
    },
    async (request, reply) => {
      const startedMs = performance.now();
      const { page, pageSize } = request.query;
      const found = await posts.listDeletedPosts({ page, pageSize }, callOf(request));
      const pagination = paginationOf(found.total, request.query);
      addLinks(
        reply,
        linksTo((number) => link(routes.deletedPosts, { page: number, pageSize }), pagination),
      );
      const meta = timedMetaOf(request, clock, startedMs);
      return { data: found.posts.map(toDeletedPost), pagination, meta };
    },
  );
  app.post(
    routes.restorePost,
    {
      access: permits('post', 'write'),
      schema: {
        operationId: 'restorePost',
        tags: ['Posts'],
        summary: 'Restore a deleted post',
        description:
          'Puts a deleted post back as it was, under its id, and returns it. 404 if it is not deleted.',
        params: PostParams,
        response: { 200: Type.Object({ data: Post, meta: Meta }) },
      },
      config: { errors: ['not_found'] },
    },
    async (request) => {
      const { post } = await posts.restorePost({ id: request.params.id }, callOf(request));
      return { data: toPost(post), meta: metaOf(request, clock) };
    },
  );
}
