/** The log. The type of one is with the base. */
export { createLog, silentLog, standardError } from './base/log.ts';
