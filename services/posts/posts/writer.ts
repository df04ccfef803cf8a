import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '@octavo/core';
import { WorkerPool } from '@octavo/core/concurrency';
import type { Database } from '@octavo/data';
import type { EventStream } from '@octavo/data/events';
import type { RpcContext } from '@octavo/rpc';
import type { Tables } from '../database.ts';
import type { Announcement } from '../events/index.ts';
import type { ReservedIds } from '../statistics/index.ts';
import { AbortFlags, type Caller, throwIfLate } from './callers.ts';
import { deletePost, updatePost } from './changes.ts';
import {
  type BulkCreation,
  type BulkOutcome,
  type Creation,
  createMany,
  createPosts,
  type Idempotency,
} from './create.ts';
import { CreateQueue } from './create-queue.ts';
import type { DeletedPosts } from './deleted.ts';
import { checkChange, checkNewPost, createdPost, type NewPost, type Post, type PostChange } from './post.ts';
import type { WriterTasks } from './writer-thread.ts';

interface PostWriterOptions {
  readonly database: Database<Tables>;
  readonly folder: string;
  readonly clock: Clock;
  /** Stream on which changes are published; absent if events are off. */
  readonly events: EventStream | undefined;
  readonly deleted: DeletedPosts;
  /** Called after posts were created, changed or deleted, with how many they were. */
  readonly onWritten: (posts: number) => void;
}

/** Caller of a write, and its span. */
type Call = Caller & Pick<RpcContext, 'traceparent'>;

/** A post to change, in one of some revisions, or in any where none is given. */
interface Target {
  readonly id: number;
  readonly allowedRevisions: readonly number[];
}

/** Up to this much is written at once without delaying others; more text, or more posts at a time, goes to a thread. */
const quickLength = 100_000;
const quickPosts = 4;
const threadIdleMs = 10_000;

/**
 * Creates, changes, deletes and restores posts, unless the caller no longer waits. On SQLite large writes go to a thread, because a
 * transaction is written and synced in one long step.
 */
export class PostWriter implements AsyncDisposable {
  readonly #options: PostWriterOptions;
  readonly #thread: WorkerPool<WriterTasks> | undefined;
  readonly #queue: CreateQueue;

  constructor(options: PostWriterOptions) {
    const { database, folder, clock } = options;
    this.#options = options;
    this.#queue = new CreateQueue({ write: (creation) => this.#write(creation), clock });
    if (database.dialect === 'postgres') return;
    this.#thread = new WorkerPool(new URL('./writer-thread.ts', import.meta.url), {
      name: 'post-writer',
      workerData: { folder },
      idleMs: threadIdleMs,
    });
  }

  /** The post as it was created before, where the idempotency key is known. Resolves when it is durable. */
  async createOnce(
    post: NewPost,
    idempotency: Idempotency,
    call: Call,
  ): Promise<{ post: Post; replayed: boolean }> {
    checkNewPost(post);
    const { ids, createdAtMs, replayed } = await this.createMany(
      { posts: [post], errors: [], idempotency },
      call,
    );
    return { post: createdPost(post, ids[0] as number, createdAtMs), replayed };
  }

  /** Resolves when the post is durable. */
  async create(post: NewPost, call: Call): Promise<Post> {
    checkNewPost(post);
    const created = await this.#queue.add(post, call, this.#announcement(call));
    this.#written(1);
    return created;
  }

  /** All in one durable transaction, in order, or none. */
  async createMany(
    creation: Omit<BulkCreation, 'nowMs' | 'announcement' | 'callers'>,
    call: Call,
  ): Promise<BulkOutcome> {
    const { database, clock } = this.#options;
    using watch = new AbortFlags([call]);
    const { callers } = watch;
    const announcement = this.#announcement(call);
    const bulk = { ...creation, callers, nowMs: clock.now(), announcement };
    const length = creation.posts.reduce((sum, { title, body }) => sum + title.length + body.length, 0);
    const outcome =
      this.#thread && length > quickLength
        ? await visible(this.#thread.run('createMany', bulk))
        : await createMany(database, bulk);
    this.#written(outcome.ids.length);
    return outcome;
  }

  async update(target: Target, change: PostChange, call: Call): Promise<Post> {
    checkChange(change);
    const { database, clock } = this.#options;
    const announcement = this.#announcement(call);
    const updated = await database.write(async (session) => {
      const post = await updatePost(session, { ...target, nowMs: clock.now(), announcement, change });
      throwIfLate(call);
      return post;
    });
    this.#written(1);
    return updated;
  }

  async remove(target: Target, call: Call): Promise<void> {
    const { database, clock, deleted } = this.#options;
    const announcement = this.#announcement(call);
    const isKept = deleted.keptMs > 0;
    await database.write(async (session) => {
      await deletePost(session, { ...target, nowMs: clock.now(), announcement, isKept });
      throwIfLate(call);
    });
    this.#written(1);
  }

  /** The deleted post as it was, which is there again. */
  async restore(id: number, call: Call): Promise<Post> {
    const { database, clock, deleted } = this.#options;
    const announcement = this.#announcement(call);
    const restored = await database.write(async (session) => {
      const post = await deleted.restore(session, { id, nowMs: clock.now(), announcement });
      throwIfLate(call);
      return post;
    });
    this.#written(1);
    return restored;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#thread?.[Symbol.asyncDispose]();
  }

  #write(creation: Creation): Promise<ReservedIds | undefined> {
    if (this.#thread && creation.posts.length > quickPosts)
      return visible(this.#thread.run('create', creation));
    return createPosts(this.#options.database, creation);
  }

  #announcement({ traceparent }: Call): Announcement | undefined {
    return this.#options.events && { traceparent };
  }

  #written(posts: number): void {
    this.#options.onWritten(posts);
    this.#options.events?.notify();
  }
}

/** Reads of one turn of the event loop may share a snapshot from before a thread's commit; those of the next turn see it. */
async function visible<T>(written: Promise<T>): Promise<T> {
  const outcome = await written;
  await nextTurn();
  return outcome;
}
