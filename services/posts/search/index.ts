export { PostIndexer } from './indexer.ts';
export { PageThreads } from './page-threads.ts';
export { type PageRequest, readFilter, readSlice } from './request.ts';
export { exportPosts } from './store.ts';
export { postText } from './store-filter.ts';
