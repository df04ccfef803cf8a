/** For tests: an HTTP server without a service. */
export { type AppResponse, startTestServer, type TestServer, Wire } from './http/testing.ts';
