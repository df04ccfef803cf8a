import { Post } from './post.ts';

/** A post as the API shows it, with the values of its schema's example where none are given. */
export function postWith(given: Partial<Post> = {}): Post {
  const { examples } = Post as unknown as { examples: readonly [Post] };
  return { ...examples[0], ...given };
}
