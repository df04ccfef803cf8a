import { readFileSync } from 'node:fs';
import type { Attribution } from '../quotes/quote.ts';

export interface SeedQuote {
  readonly category: string;
  readonly author: string;
  readonly source: string;
  readonly text: string;
  readonly attribution: Attribution;
}

/** The demo quotes. Lines of verse are separated by ` / ` in the file. */
export function readSeedQuotes(): SeedQuote[] {
  const [, ...lines] = readFileSync(new URL('quotes.tsv', import.meta.url), 'utf8')
    .trimEnd()
    .split('\n');
  return lines.map((line) => {
    const [category, author, source, text, attribution] = line.split('\t') as [
      string,
      string,
      string,
      string,
      Attribution,
    ];
    return { category, author, source, text: text.replaceAll(' / ', '\n'), attribution };
  });
}
