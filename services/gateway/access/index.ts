export { type Access, callerOf, callOf, type Permits } from './access.ts';
export { appNeeded, type CodeRefusal, checkCode, codeField, secondFactorFor } from './second-factor.ts';
export type { PageSession, Visitor, Visitors } from './visitors.ts';
