export { changesTopic, type Intent, intentOf, isSmallTalk, withoutCourtesy } from './intent.ts';
export { everydayReply } from './reply.ts';
