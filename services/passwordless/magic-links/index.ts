export { MagicLinks } from './magic-links.ts';
export { deleteExpiredLinks, voidLinks } from './store.ts';
