import { readFile } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import { ServerCredentials, type ServerOptions, setLogger } from '@grpc/grpc-js';
import type { Log } from '@octavo/core';
import { listenErrorOf } from '@octavo/core';
import { BudgetServiceDefinition as ShortFormDefinition } from '@octavo/protocols/budget/budget_service';
import { BudgetServiceDefinition } from '@octavo/protocols/budget/v1/budget_service';
import { type CallContext, createServer, ServerError, type ServerMiddlewareCall, Status } from 'nice-grpc';
import { errorDetailsServerMiddleware } from 'nice-grpc-error-details';
import { HealthDefinition, HealthServiceImpl, HealthState } from 'nice-grpc-server-health';
import { ServerReflection, ServerReflectionService } from 'nice-grpc-server-reflection';
import type { SignedIn } from '../authentication/index.ts';
import { getBudget } from '../budgets/index.ts';
import type { Context } from '../commands.ts';
import type { NotificationHub } from '../feed/index.ts';
import { limitTime, passDeadline } from './deadline.ts';
import { createErrorMapping } from './errors.ts';
import { createHandlers, type Signed } from './handlers.ts';
import { toBudgetMessage } from './messages.ts';
import { checkRequests, withUnreadable } from './requests.ts';
import { type TlsFiles, tlsCredentials } from './tls.ts';

const messageBytesMax = 4 * 1_024 * 1_024;
const services = [BudgetServiceDefinition.fullName, ShortFormDefinition.fullName];
const descriptors = new URL(import.meta.resolve('@octavo/protocols/budget/descriptors.binpb'));

export interface GrpcOptions {
  readonly context: Context;
  readonly hub: NotificationHub;
  readonly log: Log;
  /** Throws `rate_limited` if a user makes too many calls. */
  readonly count: (caller: SignedIn) => void;
  /** Returns the account of an `Authorization` header. */
  readonly authenticate: (authorization: string | undefined) => Promise<SignedIn>;
  readonly host: string;
  readonly port: number;
  /** Files of the certificate; without them the server speaks plain text. */
  readonly tls?: TlsFiles | undefined;
  /** Time that calls in flight get when the server stops. */
  readonly drainMs: number;
}

export interface GrpcServer extends AsyncDisposable {
  readonly port: number;
}

/** Serves gRPC with health checks (v1) and reflection (v1 and v1alpha). Disposing it reports NOT_SERVING, ends watches and waits for calls in flight. */
export async function serveGrpc(options: GrpcOptions): Promise<GrpcServer> {
  const { context, hub, log, host, port, drainMs } = options;
  // Its own lines on the console would stand among those of the log; what fails is thrown too.
  setLogger({ error: (...words: unknown[]) => log.debug({ words }, 'gRPC') });
  const health = HealthState();
  const stopping = new AbortController();
  const settings: ServerOptions = {
    'grpc.max_receive_message_length': messageBytesMax,
    'grpc.max_send_message_length': messageBytesMax,
    interceptors: [passDeadline],
  };
  const server = createServer(settings)
    .use(errorDetailsServerMiddleware)
    .use(createErrorMapping(log))
    .use(endStreams(stopping.signal))
    .use(limitTime);
  const signed = server.with(createSignIn(options)).with(checkRequests);
  signed.add(
    withUnreadable(BudgetServiceDefinition),
    createHandlers({ context, hub, stopping: stopping.signal }),
  );
  signed.add(withUnreadable(ShortFormDefinition), {
    getBudget: async ({ id }, { caller }) => toBudgetMessage(await getBudget(context, caller, id)),
  });
  server.add(HealthDefinition, HealthServiceImpl(health));
  await addReflection(server);
  for (const name of services) health.setStatus('healthy', name);
  const address = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  const bound = await server.listen(address, credentialsOf(options)).catch((error: unknown) => {
    throw listenErrorOf(error, host, port);
  });
  return {
    port: bound,
    async [Symbol.asyncDispose]() {
      health.setStatus('unhealthy');
      for (const name of services) health.setStatus('unhealthy', name);
      // Let watches of health receive it first.
      await setImmediate();
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

/** Adds reflection in both versions; clients use either. */
async function addReflection(server: ReturnType<typeof createServer>): Promise<void> {
  const { serverReflectionInfo } = ServerReflectionService;
  const versions = ['v1', 'v1alpha'].map((version) => `grpc.reflection.${version}.ServerReflection`);
  const listed = [...services, HealthDefinition.fullName, ...versions];
  const reflection = ServerReflection(await readFile(descriptors), listed);
  for (const name of versions) {
    const path = `/${name}/ServerReflectionInfo`;
    server.add({ serverReflectionInfo: { ...serverReflectionInfo, path } }, reflection);
  }
}

function credentialsOf({ tls, log }: GrpcOptions): ServerCredentials {
  return tls ? tlsCredentials(tls, log) : ServerCredentials.createInsecure();
}

/** Ends calls that stream responses when the service stops: watches, and reflection whose client stays. */
function endStreams(stopping: AbortSignal) {
  return async function* untilStop<Request, Response>(
    call: ServerMiddlewareCall<Request, Response>,
    context: CallContext,
  ) {
    if (!call.responseStream) return yield* call.next(call.request, context);
    const { promise: stopped, reject } = Promise.withResolvers<never>();
    // Prevents an unhandled rejection.
    stopped.catch(() => undefined);
    const stop = () => reject(new ServerError(Status.UNAVAILABLE, 'The service is stopping.'));
    if (stopping.aborted) stop();
    stopping.addEventListener('abort', stop);
    const signal = AbortSignal.any([context.signal, stopping]);
    const responses = call.next(call.request, { ...context, signal });
    try {
      for (;;) {
        const next = responses.next();
        next.catch(() => undefined);
        const result = await Promise.race([next, stopped]);
        if (result.done) return;
        yield result.value as Awaited<Response>;
      }
    } finally {
      stopping.removeEventListener('abort', stop);
      responses.return(undefined).catch(() => undefined);
    }
  };
}
