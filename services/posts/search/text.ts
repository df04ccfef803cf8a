import { normalizedText, SubstringIndex } from '#kit/search/index.ts';

/** What is searched of a post: its title and its body. */
export const postText = new SubstringIndex({
  table: 'post',
  text: normalizedText({ table: 'post', columns: ['title', 'body'], stored: 'folded' }),
});
