/**
 * Calls between services. `remote.ts` is apart, because it loads an HTTP client: import it only where another process is
 * called.
 */
export type {
  CallOptions,
  Client,
  Handlers,
  MethodDefinition,
  RpcContext,
  ServiceDefinition,
} from './contract.ts';
export { type LocalClientOptions, localClient } from './local.ts';
export { type ServeOptions, serveRpc } from './serve.ts';
export { requireToken, requireTokenOffLoopback, rpcSettings } from './token.ts';
