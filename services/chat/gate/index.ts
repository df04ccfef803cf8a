export { type AuthMode, authModes, type Credentials, createSignIn } from './credentials.ts';
export { foreignOrigins } from './foreign-origin.ts';
export { Gate, type GateOptions, type Usage, type UsageLimit, usages } from './gate.ts';
export { openPeople } from './people.ts';
export { forgetLeft, leftPeople, markLeft, namesOf } from './store.ts';
