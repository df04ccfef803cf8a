export { type Access, type Action, type Caller, callerOf, callOf, type Permits } from './access.ts';
export { appNeeded, type CodeRefusal, checkCode, codeField, secondFactorFor } from './second-factor.ts';
export { allows, type PageSession, type Visitor, type Visitors } from './visitors.ts';
