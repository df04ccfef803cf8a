export { PostIndexer } from './indexer.ts';
export { exportPosts, postText } from './list.ts';
export { Pages } from './pages.ts';
export { type PageRequest, readFilter, readSlice } from './request.ts';
