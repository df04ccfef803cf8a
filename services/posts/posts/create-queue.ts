import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '#kit/clock.ts';
import type { Announcement } from '../events/index.ts';
import type { ReservedIds } from '../statistics/index.ts';
import type { Creation } from './create.ts';
import type { NewPost, Post } from './post.ts';

const groupMax = 256;

interface Waiting {
  readonly post: NewPost;
  readonly announcement: Announcement | undefined;
  resolve(post: Post): void;
  reject(error: unknown): void;
}

/** Creates single posts. Those that arrive while others are written share a transaction, so that statistics and sync cost little. */
export class CreateQueue {
  readonly #write: (creation: Creation) => Promise<ReservedIds>;
  readonly #clock: Clock;
  readonly #waiting: Waiting[] = [];
  #isRunning = false;

  constructor(options: { write: (creation: Creation) => Promise<ReservedIds>; clock: Clock }) {
    this.#write = options.write;
    this.#clock = options.clock;
  }

  /** Resolves when the post is durable. */
  add(post: NewPost, announcement?: Announcement): Promise<Post> {
    const { promise, resolve, reject } = Promise.withResolvers<Post>();
    this.#waiting.push({ post, announcement, resolve, reject });
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
    try {
      const { lastId, createdAtMs } = await this.#write({
        posts: group.map(({ post }) => post),
        nowMs: this.#clock.now(),
        announcements: group.flatMap(({ announcement }) => announcement ?? []),
      });
      for (const [index, { post, resolve }] of group.entries()) {
        const times = { createdAtMs, updatedAtMs: createdAtMs, revision: 1 };
        resolve({ id: lastId + index + 1, ...post, ...times });
      }
    } catch (error) {
      for (const { reject } of group) reject(error);
    }
  }
}
