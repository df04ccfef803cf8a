import { BoundedWordIndex } from '@octavo/data/search';

/** The words of published quotes. */
export const quoteWords = new BoundedWordIndex({
  table: 'quote_words',
  fields: ['author', 'category', 'text'],
  leadFields: ['author', 'category'],
});
