export { type Access, callerOf, callOf, type Permits } from './access.ts';
export { codeField } from './code-field.ts';
export type { PageSession, Visitor, Visitors } from './visitors.ts';
