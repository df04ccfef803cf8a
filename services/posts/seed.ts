import type { Client } from '#kit/rpc/index.ts';
import { postLimits } from '#proto/posts/v1/limits.ts';
import type { PostServiceDefinition } from '#proto/posts/v1/posts.ts';
import type { Corpus } from './corpus.ts';

/** Loads a corpus by the public calls. `onProgress` gets the number of posts so far. */
export async function seedPosts(
  client: Client<PostServiceDefinition>,
  corpus: Corpus,
  onProgress: (posts: number) => void = () => {},
): Promise<void> {
  for (let start = 0; start < corpus.size; start += postLimits.bulk) {
    const end = Math.min(corpus.size, start + postLimits.bulk);
    const posts = Array.from({ length: end - start }, (_, index) => {
      const { userId, title, body } = corpus.at(start + index);
      return { userId, title, body };
    });
    await client.bulkCreatePosts({ posts, errors: [], idempotencyKey: '', digest: Buffer.alloc(0) });
    onProgress(end);
  }
}
