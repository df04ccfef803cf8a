export { likes } from './store.ts';
export { likeButton } from './views.ts';
