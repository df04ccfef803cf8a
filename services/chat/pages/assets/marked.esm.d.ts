// The package as `pages.ts` serves it.
export { Marked } from 'marked';
