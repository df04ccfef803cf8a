export { type Access, callerOf, callOf, type Permits } from './access.ts';
export { accountPasswords } from './people.ts';
export { appNeeded, type CodeRefusal, checkCode, codeField, secondFactorFor } from './second-factor.ts';
export {
  allows,
  findSignedIn,
  findVisitor,
  frameOf,
  type PageSession,
  type Visitor,
  type Visitors,
} from './visitors.ts';
