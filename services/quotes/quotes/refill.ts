import { refilledBy } from '@octavo/data/search';
import type { Tables } from '../tables.ts';
import { quoteWords } from '../words.ts';
import type { Quote } from './quote.ts';
import { publishedAfter } from './store.ts';

const quotesAtOnce = 500;

/** Puts the words of all published quotes into an empty index. */
export const refilledWords = refilledBy<Tables, Quote>(
  (session, after) => publishedAfter(session, after, quotesAtOnce),
  async (session, quotes) => {
    for (const quote of quotes) await quoteWords.put(session, quote.id, quote);
  },
);
