export { type AuthMode, authModes, type Credentials, createSignIn } from './credentials.ts';
export { Gate, type Usage, type UsageLimit, usages } from './gate.ts';
