import { readFile } from 'node:fs/promises';
import { ServerCredentials } from '@grpc/grpc-js';
import { type CallContext, createServer, type ServerMiddlewareCall } from 'nice-grpc';
import { errorDetailsServerMiddleware } from 'nice-grpc-error-details';
import { HealthDefinition, HealthServiceImpl, HealthState } from 'nice-grpc-server-health';
import { ServerReflection, ServerReflectionService } from 'nice-grpc-server-reflection';
import type { Log } from '#kit/log.ts';
import { BudgetServiceDefinition as ShortFormDefinition } from '#proto/budget/budget_service.ts';
import { BudgetServiceDefinition } from '#proto/budget/v1/budget_service.ts';
import type { SignedIn } from '../authentication/index.ts';
import { getBudget } from '../budgets/index.ts';
import type { Core } from '../commands.ts';
import type { Hub } from '../feed/index.ts';
import { limitTime, passDeadline } from './deadline.ts';
import { createErrorMapping } from './errors.ts';
import { createHandlers, type Signed } from './handlers.ts';
import { toBudgetMessage } from './messages.ts';
import { checkRequests, withUnreadable } from './requests.ts';

const messageBytesMax = 4 * 1_024 * 1_024;
const services = [BudgetServiceDefinition.fullName, ShortFormDefinition.fullName];
const descriptors = new URL('../../../proto/gen/budget/descriptors.binpb', import.meta.url);

export interface GrpcOptions {
  readonly core: Core;
  readonly hub: Hub;
  readonly log: Log;
  /** Throws `rate_limited` if a user makes too many calls. */
  readonly count: (caller: SignedIn) => void;
  /** Who an `Authorization` header names. */
  readonly authenticate: (authorization: string | undefined) => Promise<SignedIn>;
  readonly host: string;
  readonly port: number;
  /** PEM files; without them the server speaks plain text. */
  readonly tls?: { readonly certificate: string; readonly key: string } | undefined;
  /** How long calls in flight may go on when the server stops. */
  readonly drainMs: number;
}

export interface GrpcServer extends AsyncDisposable {
  readonly port: number;
}

/** Serves gRPC with health checks (v1) and reflection (v1 and v1alpha). Disposing it reports NOT_SERVING, ends watches and waits for calls in flight. */
export async function serveGrpc(options: GrpcOptions): Promise<GrpcServer> {
  const { core, hub, log, host, port, drainMs } = options;
  const health = HealthState();
  const stopping = new AbortController();
  const server = createServer({
    'grpc.max_receive_message_length': messageBytesMax,
    'grpc.max_send_message_length': messageBytesMax,
    interceptors: [passDeadline],
  } as never)
    .use(errorDetailsServerMiddleware)
    .use(createErrorMapping(log))
    .use(limitTime);
  const signed = server.with(createSignIn(options)).with(checkRequests);
  signed.add(
    withUnreadable(BudgetServiceDefinition),
    createHandlers({ core, hub, stopping: stopping.signal }),
  );
  signed.add(withUnreadable(ShortFormDefinition), {
    getBudget: async ({ id }, { caller }) => toBudgetMessage(await getBudget(core, caller, id)),
  });
  server.add(HealthDefinition, HealthServiceImpl(health));
  await addReflection(server);
  for (const name of services) health.setStatus('healthy', name);
  const bound = await server.listen(
    `${host.includes(':') ? `[${host}]` : host}:${port}`,
    await credentialsOf(options),
  );
  return {
    port: bound,
    async [Symbol.asyncDispose]() {
      health.setStatus('unhealthy');
      for (const name of services) health.setStatus('unhealthy', name);
      stopping.abort();
      const force = setTimeout(() => server.forceShutdown(), drainMs);
      await server.shutdown();
      clearTimeout(force);
    },
  };
}

function createSignIn({ authenticate, count }: GrpcOptions) {
  return async function* signIn<Request, Response>(
    call: ServerMiddlewareCall<Request, Response, Signed>,
    context: CallContext,
  ) {
    const caller = await authenticate(context.metadata.get('authorization'));
    count(caller);
    return yield* call.next(call.request, { ...context, caller: { ...caller, signal: context.signal } });
  };
}

/** Both versions have the same messages, and clients use either. */
async function addReflection(server: ReturnType<typeof createServer>): Promise<void> {
  const reflection = ServerReflection(await readFile(descriptors), services);
  server.add(ServerReflectionService, reflection);
  const { serverReflectionInfo } = ServerReflectionService;
  const path = '/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo';
  server.add({ serverReflectionInfo: { ...serverReflectionInfo, path } }, reflection);
}

async function credentialsOf({ tls }: GrpcOptions): Promise<ServerCredentials> {
  if (!tls) return ServerCredentials.createInsecure();
  const [cert_chain, private_key] = await Promise.all([readFile(tls.certificate), readFile(tls.key)]);
  return ServerCredentials.createSsl(null, [{ cert_chain, private_key }]);
}
