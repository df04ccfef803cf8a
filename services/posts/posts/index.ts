export { type Caller, throwIfLate } from './callers.ts';
export { DeletedPosts } from './deleted.ts';
export {
  codePointsOf,
  encodingProblem,
  isUserId,
  type NewPost,
  type Post,
  problemsOf,
  refuse,
} from './post.ts';
export { findPost, postColumns, postsAfter } from './store.ts';
export { PostWriter } from './writer.ts';
