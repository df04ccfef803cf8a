export { type Access, callerOf, callOf, type Permits } from './access.ts';
export { mfaHeader, type PageSession, type Visitor, type Visitors } from './visitors.ts';
