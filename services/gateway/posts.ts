import { AppError } from '#kit/errors.ts';
import type { CallOptions, Client } from '#kit/rpc/index.ts';
import type {
  ExportPostsResponse,
  GetAnalyticsResponse,
  NewPost,
  PostFilter,
  PostServiceDefinition,
  Post as StoredPost,
} from '#proto/posts/v1/posts.ts';
import type { BulkCreateResponse, CheckedRows } from './bulk.ts';
import { allowedRevisions, entityTag } from './entity-tag.ts';
import type { Integration } from './integrations.ts';
import { type Listing, type Page, toPage, toRequest } from './listing.ts';
import { type Post, toPost } from './post.ts';
import { type ReanalysisJob, toJob } from './reanalysis.ts';
import { type PostSentiment, type SentimentResponse, toPostSentiment, toSentiment } from './sentiment.ts';

/** A post with its entity tag. */
export interface TaggedPost {
  readonly post: Post;
  readonly tag: string;
}

export interface PostChange {
  readonly title?: string | undefined;
  readonly body?: string | undefined;
}

/** Checked rows, whose they are by default, and the key that makes a second request a replay. */
export interface BulkCreation extends CheckedRows {
  readonly uid: number;
  readonly idempotency?: { readonly key: string; readonly digest: Buffer } | undefined;
}

export interface BulkResult {
  readonly data: BulkCreateResponse;
  readonly isReplayed: boolean;
}

const bulkTimeoutMs = 60_000;
const classifyTimeoutMs = 2_000;

/** What the edges ask of the post backend, in the API's terms. */
export class Posts {
  readonly #client: Client<PostServiceDefinition>;

  constructor(client: Client<PostServiceDefinition>) {
    this.#client = client;
  }

  async get(id: number, call: CallOptions): Promise<TaggedPost> {
    const { post } = await this.#client.getPost({ id }, call);
    return tagged(post);
  }

  async create(post: NewPost, call: CallOptions): Promise<TaggedPost> {
    const created = await this.#client.createPost({ post }, call);
    return tagged(created.post);
  }

  /** `ifMatch` is the header of that name; 412 where the post has changed since. */
  async update(
    id: number,
    change: PostChange,
    options: CallOptions & { ifMatch?: string | undefined },
  ): Promise<TaggedPost> {
    const { ifMatch, ...call } = options;
    const request = { id, ...change, ifRevisions: allowedRevisions(ifMatch) };
    const { post } = await this.#client.updatePost(request, call);
    return tagged(post);
  }

  async remove(id: number, options: CallOptions & { ifMatch?: string | undefined }): Promise<void> {
    const { ifMatch, ...call } = options;
    await this.#client.deletePost({ id, ifRevisions: allowedRevisions(ifMatch) }, call);
  }

  /** The good rows in one durable transaction. Keys of different callers do not meet. */
  async createMany(creation: BulkCreation, call: CallOptions): Promise<BulkResult> {
    const { rows, errors, uid, idempotency } = creation;
    if (rows.length === 0 && !idempotency) return { data: bulkResponse([], errors), isReplayed: false };
    const request = {
      posts: rows.map(({ userId = uid, title, body }) => ({ userId, title, body })),
      idempotencyKey: idempotency ? `${uid}:${idempotency.key}` : '',
      digest: idempotency?.digest ?? Buffer.alloc(0),
      errors,
    };
    const reply = await this.#client.bulkCreatePosts(request, { ...call, timeoutMs: bulkTimeoutMs });
    const lines = reply.replayed ? reply.errors : errors;
    return { data: bulkResponse(reply.ids, lines), isReplayed: reply.replayed };
  }

  async list(listing: Listing, call: CallOptions): Promise<Page> {
    return toPage(await this.#client.listPosts(toRequest(listing), call), listing);
  }

  /** Every matching post by ascending id, in batches, from one snapshot. */
  export(filter: PostFilter, call: CallOptions): AsyncIterable<ExportPostsResponse> {
    return this.#client.exportPosts({ filter }, call);
  }

  analytics(call: CallOptions): Promise<GetAnalyticsResponse> {
    return this.#client.getAnalytics({}, call);
  }

  /** How a text feels, by the model that new posts are enriched with. Throws `timeout` after two seconds. */
  async classify(text: string, call: CallOptions): Promise<SentimentResponse> {
    const { classification } = await this.#client.classifyText(
      { text },
      { ...call, timeoutMs: classifyTimeoutMs },
    );
    return toSentiment(classification);
  }

  /** How a post was classified last. Throws `not_found` until it was. */
  async sentiment(id: number, call: CallOptions): Promise<PostSentiment> {
    return toPostSentiment(await this.#client.getPostSentiment({ id }, call));
  }

  /** Resolves when the broker has the job. */
  async reanalyze(call: CallOptions): Promise<ReanalysisJob> {
    return toJob((await this.#client.requestReanalysis({}, call)).reanalysis);
  }

  async reanalysis(id: string, call: CallOptions): Promise<ReanalysisJob> {
    return toJob((await this.#client.getReanalysis({ id }, call)).reanalysis);
  }

  /** The latest, newest first. */
  async latestReanalyses(limit: number, call: CallOptions): Promise<ReanalysisJob[]> {
    return (await this.#client.listReanalyses({ limit }, call)).reanalyses.map(toJob);
  }

  async cancelReanalysis(id: string, call: CallOptions): Promise<ReanalysisJob> {
    return toJob((await this.#client.cancelReanalysis({ id }, call)).reanalysis);
  }

  /** Throws where an optional part of the backend does not answer, by its name in the status report. */
  async checkIntegration(name: Integration, signal: AbortSignal): Promise<void> {
    const { integrations } = await this.#client.checkIntegrations({}, { signal });
    const state = integrations.find((each) => each.name === name);
    if (!state) throw new AppError('unavailable', 'is switched off in the post backend');
    if (state.problem !== '') throw new AppError('unavailable', state.problem);
  }
}

function bulkResponse(postIds: number[], errors: string[]): BulkCreateResponse {
  return { created: postIds.length, failed: errors.length, errors, postIds };
}

function tagged(stored: StoredPost | undefined): TaggedPost {
  if (!stored) throw new Error('the post backend answered without a post');
  return { post: toPost(stored), tag: entityTag(stored.revision) };
}
