import type { Handlers } from '#kit/rpc/index.ts';
import {
  type NewPost as NewWirePost,
  type PostServiceDefinition,
  PostSort,
  type Post as WirePost,
} from '#proto/posts/v1/posts.ts';
import { type NewPost, type PageRequest, type Post, readFilter, readPage } from './post.ts';
import type { Posts } from './posts.ts';
import type { Reanalyses } from './reanalyses.ts';
import { createIntegrationHandlers, type OptionalParts } from './rpc-integrations.ts';
import { createWorkHandlers } from './rpc-work.ts';

const orders: Readonly<Record<number, PageRequest['order']>> = {
  [PostSort.POST_SORT_TITLE]: 'title',
  // A post never is older than one with a lower id.
  [PostSort.POST_SORT_CREATED_AT]: 'id',
  [PostSort.POST_SORT_UPDATED_AT]: 'updated',
};

/** Serves posts.v1. */
export function createHandlers(
  posts: Posts,
  parts: OptionalParts & { readonly reanalyses: Reanalyses | undefined },
): Handlers<PostServiceDefinition> {
  return {
    ...createIntegrationHandlers(parts),
    ...createWorkHandlers({ posts, ...parts }),

    createPost: async ({ post }, { traceparent }) => ({
      post: toWire(await posts.create(toNewPost(post), traceparent)),
    }),

    getPost: async ({ id }) => ({ post: toWire(await posts.get(id)) }),

    updatePost: async ({ id, title, body, ifRevisions: allowedRevisions }, { traceparent }) => ({
      post: toWire(await posts.update({ id, allowedRevisions, traceparent }, { title, body })),
    }),

    deletePost: async ({ id, ifRevisions: allowedRevisions }, { traceparent }) => {
      await posts.remove({ id, allowedRevisions, traceparent });
      return {};
    },

    listPosts: async ({ filter = {}, sort, descending, page, pageSize }) => {
      const order = orders[sort] ?? 'id';
      const listed = await posts.list({
        ...readFilter(filter),
        order,
        descending,
        ...readPage(page, pageSize),
      });
      return { posts: listed.posts.map(toWire), total: listed.total };
    },

    bulkCreatePosts: async ({ posts: wanted, errors, idempotencyKey, digest }, { traceparent }) => {
      const idempotency = idempotencyKey === '' ? undefined : { key: idempotencyKey, digest };
      const outcome = await posts.createMany({ posts: wanted, errors, idempotency }, traceparent);
      return { ids: [...outcome.ids], replayed: outcome.replayed, errors: [...outcome.errors] };
    },

    exportPosts: async function* ({ filter = {} }, { signal }) {
      for await (const batch of posts.export(readFilter(filter), signal)) yield { posts: batch.map(toWire) };
    },

    getAnalytics: async () => {
      const analytics = await posts.analytics();
      return {
        ...analytics,
        topCharacters: [...analytics.topCharacters],
        postsPerUser: new Map(analytics.postsPerUser),
        postsPerHour: [...analytics.postsPerHour],
      };
    },
  };
}

/** What is missing is refused like what is empty. */
function toNewPost(post: NewWirePost | undefined): NewPost {
  return post ?? { userId: 0, title: '', body: '' };
}

/** The two shapes are the same; this says so only as long as they are. */
function toWire(post: Post): WirePost {
  return post;
}
