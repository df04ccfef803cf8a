export { type Integrations, integrationDisabled } from './integrations.ts';
