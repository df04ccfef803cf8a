export { type Intent, intentOf, withoutCourtesy } from './intent.ts';
export { everydayReply } from './reply.ts';
