export { countMatches, type Found, findMatches, listedMax } from './search.ts';
export { parseSignedQuery } from './signed-words.ts';
