export { changesTopic, type Intent, intentOf, isSmallTalk, withoutCourtesy } from './intent.ts';
export { sourcesOf } from './quoted.ts';
export { everydayReply } from './reply.ts';
