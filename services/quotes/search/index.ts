export { countMatches, type Found, findMatches, listedMax } from './search.ts';
