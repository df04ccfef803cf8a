import type { Clock } from '#kit/clock.ts';
import type { Database } from '#kit/db/index.ts';
import { AppError, notFound } from '#kit/errors.ts';
import type { EventStream } from '#kit/events/index.ts';
import type { BulkCreation, BulkOutcome } from './bulk.ts';
import { deletePost, updatePost } from './changes.ts';
import type { Announcement } from './events.ts';
import { Inserts } from './inserts.ts';
import type { PageReader } from './page-reader.ts';
import {
  checkChange,
  checkNewPost,
  type NewPost,
  type Page,
  type PageRequest,
  type Post,
  type PostChange,
  type PostFilter,
  postLimits,
} from './post.ts';
import type { PostWriter } from './post-writer.ts';
import { findPost } from './store.ts';
import { exportPosts } from './store-list.ts';
import { findSentiment, type StoredSentiment } from './store-sentiments.ts';
import { type Analytics, readAnalytics } from './store-statistics.ts';
import type { Tables } from './tables.ts';

interface PostsOptions {
  readonly database: Database<Tables>;
  readonly pages: PageReader;
  readonly writer: PostWriter;
  readonly clock: Clock;
  /** Where changes are told; absent where they are not. */
  readonly events: EventStream | undefined;
}

/** A post to be changed, in one of some revisions, or in any where none is given. */
interface Target {
  readonly id: number;
  readonly allowedRevisions: readonly number[];
  readonly traceparent?: string | undefined;
}

const exportBatchRows = 150;

/** What can be done with posts. */
export class Posts {
  readonly #database: Database<Tables>;
  readonly #pages: PageReader;
  readonly #writer: PostWriter;
  readonly #clock: Clock;
  readonly #events: EventStream | undefined;
  readonly #inserts: Inserts;

  constructor({ database, pages, writer, clock, events }: PostsOptions) {
    this.#database = database;
    this.#pages = pages;
    this.#writer = writer;
    this.#clock = clock;
    this.#events = events;
    this.#inserts = new Inserts(writer, clock);
  }

  async get(id: number): Promise<Post> {
    const post = await findPost(this.#database, id);
    if (!post) throw notFound('post', id);
    return post;
  }

  async create(post: NewPost, traceparent?: string): Promise<Post> {
    checkNewPost(post);
    const created = await this.#inserts.insert(post, this.#announcement(traceparent));
    this.#pages.grew(created.id);
    this.#events?.notify();
    return created;
  }

  /** All in one durable transaction, in order, or none. */
  async createMany(
    creation: Omit<BulkCreation, 'nowMs' | 'announcement'>,
    traceparent?: string,
  ): Promise<BulkOutcome> {
    if (creation.posts.length > postLimits.bulk) throw tooMany();
    const announcement = this.#announcement(traceparent);
    const outcome = await this.#writer.createMany({ ...creation, nowMs: this.#clock.now(), announcement });
    this.#pages.grew(outcome.ids.at(-1) ?? 0);
    this.#events?.notify();
    return outcome;
  }

  async update(target: Target, change: PostChange): Promise<Post> {
    checkChange(change);
    const updated = await this.#database.write((session) =>
      updatePost(session, { ...this.#targetOf(target), change }),
    );
    this.#pages.changed();
    this.#events?.notify();
    return updated;
  }

  async remove(target: Target): Promise<void> {
    await this.#database.write((session) => deletePost(session, this.#targetOf(target)));
    this.#pages.changed();
    this.#events?.notify();
  }

  /** One page and the exact total, from one snapshot. */
  list(request: PageRequest): Promise<Page> {
    return this.#pages.read(request);
  }

  /** Every matching post by ascending id, in batches, from one snapshot. */
  export(filter: PostFilter, signal: AbortSignal): AsyncIterable<Post[]> {
    return exportPosts(this.#database, filter, { batchRows: exportBatchRows, signal });
  }

  /** How a post was classified last. */
  async sentiment(id: number): Promise<StoredSentiment | undefined> {
    return findSentiment(this.#database, id);
  }

  analytics(): Promise<Analytics> {
    return this.#database.read(readAnalytics);
  }

  #announcement(traceparent: string | undefined): Announcement | undefined {
    return this.#events && { traceparent };
  }

  #targetOf({ traceparent, ...target }: Target) {
    return { ...target, nowMs: this.#clock.now(), announcement: this.#announcement(traceparent) };
  }
}

function tooMany(): AppError {
  const problem = `must have at most ${postLimits.bulk} items`;
  return new AppError('validation_failed', `posts ${problem}`, { fields: { posts: problem } });
}
