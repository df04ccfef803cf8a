import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '@octavo/core';
import type { Announcement } from '../events/index.ts';
import type { ReservedIds } from '../statistics/index.ts';
import { AbortFlags, type Caller, isLate, lateError } from './callers.ts';
import type { Creation } from './create.ts';
import { createdPost, type NewPost, type Post } from './post.ts';

const groupMax = 256;

interface Waiting {
  readonly post: NewPost;
  readonly caller: Caller;
  readonly announcement: Announcement | undefined;
  resolve(post: Post): void;
  reject(error: unknown): void;
}

/** Runs `createPosts`. */
type Write = (creation: Creation) => Promise<ReservedIds | undefined>;

/** Creates single posts. Those that arrive while others are written share a transaction, so that statistics and sync cost little. */
export class CreateQueue {
  readonly #write: Write;
  readonly #clock: Clock;
  readonly #waiting: Waiting[] = [];
  #isRunning = false;

  constructor(options: { write: Write; clock: Clock }) {
    this.#write = options.write;
    this.#clock = options.clock;
  }

  /** Resolves when the post is durable. A post whose caller no longer waits is not created. */
  add(post: NewPost, caller: Caller, announcement?: Announcement): Promise<Post> {
    const { promise, resolve, reject } = Promise.withResolvers<Post>();
    this.#waiting.push({ post, caller, announcement, resolve, reject });
    if (!this.#isRunning) void this.#run();
    return promise;
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    while (this.#waiting.length > 0) {
      // Waits for the others of this turn, or the first would be written and synced alone.
      await nextTurn();
      await this.#create(this.#waiting.splice(0, groupMax));
    }
    this.#isRunning = false;
  }

  async #create(group: readonly Waiting[]): Promise<void> {
    let left = refuseLate(group);
    try {
      for (; left.length > 0; left = refuseLate(left)) {
        const reserved = await this.#writeGroup(left);
        if (!reserved) continue;
        const { lastId, createdAtMs } = reserved;
        for (const [index, { post, resolve }] of left.entries()) {
          resolve(createdPost(post, lastId + index + 1, createdAtMs));
        }
        return;
      }
    } catch (error) {
      for (const { reject } of left) reject(error);
    }
  }

  async #writeGroup(group: readonly Waiting[]): Promise<ReservedIds | undefined> {
    using watch = new AbortFlags(group.map(({ caller }) => caller));
    return await this.#write({
      posts: group.map(({ post }) => post),
      callers: watch.callers,
      nowMs: this.#clock.now(),
      announcements: group.flatMap(({ announcement }) => announcement ?? []),
    });
  }
}

/** Refuses late posts and returns those whose callers still wait. */
function refuseLate(group: readonly Waiting[]): readonly Waiting[] {
  const { late = [], waiting = [] } = Object.groupBy(group, ({ caller }) =>
    isLate(caller) ? 'late' : 'waiting',
  );
  for (const { reject } of late) reject(lateError());
  return waiting;
}
