import { Type } from '#kit/schema.ts';
import { attributions } from './quote.ts';
import type { LikedQuote } from './store.ts';

/** A quote in the API. */
export const Quote = Type.Object(
  {
    id: Type.Integer(),
    text: Type.String(),
    author: Type.String(),
    category: Type.String({ description: 'The name of its category' }),
    like_set: Type.Array(Type.Integer(), { description: 'The ids of its likes, one a reader' }),
    source: Type.String({ description: 'A work with year or chapter; empty if unknown' }),
    attribution: Type.Enum(attributions),
  },
  { title: 'Quote' },
);

export function toJson({ id, text, author, category, likeIds, source, attribution }: LikedQuote) {
  const like_set = likeIds === '' ? [] : likeIds.split(',').map(Number);
  return { id, text, author, category, like_set, source, attribution };
}
