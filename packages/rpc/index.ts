/** Calls between services. It does not export `remote.ts`, which loads an HTTP client: import that only to call another process. */
export type {
  CallOptions,
  Client,
  Handlers,
  MethodDefinition,
  RpcContext,
  ServiceDefinition,
} from './contract.ts';
export { type LocalClientOptions, localClient } from './local.ts';
export { type ServeOptions, serveRpc } from './server/serve.ts';
export { checkRpcToken, requireToken, requireTokenOffLoopback, rpcSettings } from './token.ts';
