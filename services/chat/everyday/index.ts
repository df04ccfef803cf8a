export { sourcesOf } from './quoted.ts';
export { everydayReply } from './reply.ts';
