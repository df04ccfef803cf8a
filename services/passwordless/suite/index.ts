export { type DemoRole, demoRoles, SuiteSignIn } from './suite-sign-in.ts';
