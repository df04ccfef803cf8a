import { Type } from '@octavo/core';
import { attributions, type QuoteContent } from './quote.ts';
import type { LikedQuote } from './store.ts';
import type { WaitingChange } from './store-changes.ts';

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
    pending: Type.Optional(
      Type.Object(
        {
          text: Type.String(),
          author: Type.String(),
          category: Type.String(),
          source: Type.String(),
          attribution: Type.Enum(attributions),
        },
        { description: 'Your change, which waits for approval; only its author gets it' },
      ),
    ),
  },
  { title: 'Quote' },
);

export function toJson(quote: LikedQuote, change?: WaitingChange) {
  const { id, likeIds } = quote;
  const like_set = likeIds === '' ? [] : likeIds.split(',').map(Number);
  const { text, author, category, ...rest } = contentOf(quote);
  const pending = change && contentOf({ ...quote, ...change });
  return { id, text, author, category, like_set, ...rest, ...(pending && { pending }) };
}

function contentOf({ text, author, category, source, attribution }: QuoteContent): QuoteContent {
  return { text, author, category, source, attribution };
}
