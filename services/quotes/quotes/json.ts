import { partsOf, type TSchema, Type } from '@octavo/core';
import { contentNames, contentOf, type QuoteContent, quoteFields } from './quote.ts';
import type { LikedQuote } from './store.ts';
import type { WaitingChange } from './store-changes.ts';

/** The fields that readers write, as the API returns them: each has a value, and no limits are stated. */
function contentSchemas(descriptions: { readonly [Name in keyof QuoteContent]?: string } = {}) {
  const schemas = contentNames.map((name) => {
    const { type, enum: names } = partsOf(name, quoteFields[name]).schema;
    const description = descriptions[name];
    return [name, { ...(names ? { enum: names } : { type }), ...(description && { description }) }];
  });
  return Object.fromEntries(schemas) as { [Name in keyof QuoteContent]: Shown<QuoteContent[Name]> };
}

type Shown<T> = TSchema & { static: T };

const { text, author, category, ...details } = contentSchemas({
  category: 'The name of its category',
  source: 'A work with year or chapter; empty if unknown',
});

/** A quote in the API. */
export const Quote = Type.Object(
  {
    id: Type.Integer(),
    text,
    author,
    category,
    like_set: Type.Array(Type.Integer(), { description: 'The ids of its likes, one a reader' }),
    ...details,
    pending: Type.Optional(
      Type.Object(contentSchemas(), {
        description: 'Your change, which waits for approval; only its author gets it',
      }),
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
