/** Helpers of tests: clients, folders, ports, waiting. */
export { createCertificate, opensslIsMissing } from './certificates.ts';
export { testConfig } from './config.ts';
export { type StartOptions, testContext } from './context.ts';
export { testFolder } from './folder.ts';
export { freePort } from './free-port.ts';
export { bearer, sendRequest, type TestRequest, type TestResponse } from './http-client.ts';
export { accountsEnvironment, testConnections, testMode } from './mode.ts';
export { PageClient, type PageResponse } from './page-client.ts';
export { decodePng, fetchPng } from './png.ts';
export { longestTurnOf, processorMs } from './processor-time.ts';
export { eventually, promptly, until } from './until.ts';
export type { TestTasks } from './worker-tasks.ts';
export { writesDuring } from './writes-during.ts';
