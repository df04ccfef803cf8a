export { FilterQuery, PageFilter, toFilter, toPostFilter } from './filter.ts';
export { CreatePostRequest, Post, PostParams, toPost } from './post.ts';
export { problemsInWords } from './post-form.ts';
