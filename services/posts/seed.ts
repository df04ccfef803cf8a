import type { Client } from '#kit/rpc/index.ts';
import type { PostServiceDefinition } from '#proto/posts/v1/posts.ts';
import type { Corpus } from './corpus.ts';
import { postLimits } from './post.ts';

/** Loads a corpus by the same calls as anybody; `onProgress` is told how many posts are there. */
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
