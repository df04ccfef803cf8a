import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '#kit/clock.ts';
import type { Announcement } from './events.ts';
import type { NewPost, Post } from './post.ts';
import type { PostWriter } from './post-writer.ts';

const together = 256;

interface Waiting {
  readonly post: NewPost;
  readonly announcement: Announcement | undefined;
  resolve(post: Post): void;
  reject(error: unknown): void;
}

/** Writes single posts: those that come while others are written go together, so that the statistics cost little. */
export class Inserts {
  readonly #writer: PostWriter;
  readonly #clock: Clock;
  readonly #waiting: Waiting[] = [];
  #running = false;

  constructor(writer: PostWriter, clock: Clock) {
    this.#writer = writer;
    this.#clock = clock;
  }

  /** Resolves when the post is durable. */
  insert(post: NewPost, announcement?: Announcement): Promise<Post> {
    const { promise, resolve, reject } = Promise.withResolvers<Post>();
    this.#waiting.push({ post, announcement, resolve, reject });
    if (!this.#running) void this.#run();
    return promise;
  }

  async #run(): Promise<void> {
    this.#running = true;
    while (this.#waiting.length > 0) {
      // Those of the same turn come along; without them the first would be written, and synced, alone.
      await nextTurn();
      const group = this.#waiting.splice(0, together);
      try {
        const { lastId, createdAtMs } = await this.#writer.create({
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
    this.#running = false;
  }
}
