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
export { requireToken, requireTokenOffLoopback } from './token.ts';
