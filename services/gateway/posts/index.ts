export { FilterQuery, toFilter } from './listing.ts';
export { PageFilter, toPostFilter } from './page-filter.ts';
export { CreatePostRequest, Post, PostParams, toPost } from './post.ts';
export { problemsInWords } from './post-form.ts';
