export { addLive } from './live.ts';
