import { join } from 'node:path';
import { storedSecret } from '#kit/auth/stored-secret.ts';
import { type Config, choice, flag, integer, refuse, type Settings, text } from '#kit/config.ts';
import { trustProxySetting } from '#kit/http/client-address.ts';
import { createHttpServer } from '#kit/http/server.ts';
import { openFolderStore, openS3Store, type S3Options } from '#kit/objects/index.ts';
import type { Client } from '#kit/rpc/index.ts';
import type { Running, Service, ServiceContext } from '#kit/service.ts';
import type { Tracer } from '#kit/tracing/tracer.ts';
import type { AuthServiceDefinition } from '#proto/authz/v1/authz.ts';
import { type PostServiceDefinition, PostSort } from '#proto/posts/v1/posts.ts';
import { Access } from './access.ts';
import { addApi } from './api.ts';
import { addIntegrationFigures } from './integration-figures.ts';
import type { IntegrationChecks, Integrations } from './integrations.ts';
import { addPages } from './pages.ts';
import { Posts } from './posts.ts';
import { StoredExports } from './store.ts';

const secretBytesMin = 32;

const settings = {
  GATEWAY_JWT_SECRET: text({
    secret: true,
    requiredInProduction: true,
    minLength: secretBytesMin,
    help: `Key that tokens are signed with, at least ${secretBytesMin} bytes; else a random one in the data folder`,
  }),
  MFA_ASSERTION: choice(['header', 'signed'], {
    default: 'header',
    help: 'Whose word counts for a second factor: the X-MFA-Verified header, or the amr claim of the token',
  }),
  CORS_ORIGIN: text({ help: 'Origins whose pages may call the API, separated by commas, or *' }),
  TRUST_PROXY: trustProxySetting,
  OBJECT_STORE: flag({
    default: true,
    help: 'Whether exports are stored: in a folder, or in S3 where S3_BUCKET is set',
  }),
  S3_ENDPOINT: text({ help: 'Address of an S3-compatible server; without it Amazon S3' }),
  S3_BUCKET: text({
    help: 'Bucket to store exports in; it must be there. Without it a folder in OCTAVO_DATA',
  }),
  S3_REGION: text({ default: 'us-east-1', help: 'Region of the bucket' }),
  S3_ACCESS_KEY_ID: text({ help: "Key of the bucket; without it what Amazon's tools would use" }),
  S3_SECRET_ACCESS_KEY: text({ secret: true, help: 'Secret of that key' }),
  EXPORT_SPILL_MIB: integer({
    default: 1_024,
    min: 0,
    help: 'Disk in MiB for copies of exports that the object store is too slow for; what is more is not stored',
  }),
  INFERENCE: flag({
    default: true,
    help: 'Whether texts are classified: by the shipped model, or by a server where INFERENCE_URL is set',
  }),
  MESSAGE_BROKER: flag({
    default: true,
    help: 'Whether reanalyses can be asked for: their jobs are in the database, or in NATS where NATS_URL is set',
  }),
  EVENT_STREAM: flag({
    default: true,
    help: 'Whether changes of posts are told as events: in the database, or in NATS where NATS_URL is set',
  }),
} satisfies Settings;

export interface GatewayNeeds {
  readonly posts: Client<PostServiceDefinition>;
  readonly authz: Client<AuthServiceDefinition>;
  /** Where the backends are, `host:port` or `in-process`. */
  readonly rpcAddresses: { readonly postsvc: string; readonly authsvc: string };
}

/** The HTTP API and the pages over posts and access decisions. */
export const gateway: Service<typeof settings, GatewayNeeds> = {
  name: 'gateway',
  summary: 'Posts: manage, search, bulk-load, export and analyse them',
  settings,
  start,
};

async function start(
  config: Config<typeof settings>,
  context: ServiceContext,
  needs: GatewayNeeds,
): Promise<Running> {
  await using stack = new AsyncDisposableStack();
  const { clock, environment, dataFolder, metrics, tracer } = context;
  const secret = config.GATEWAY_JWT_SECRET ?? (await storedSecret(join(dataFolder, 'gateway-jwt-secret')));
  if (Buffer.byteLength(secret) < secretBytesMin) {
    refuse({ GATEWAY_JWT_SECRET: `must be at least ${secretBytesMin} bytes` });
  }
  const exports = stack.use(await openExports(config, context));
  const posts = new Posts(needs.posts);
  const integrations = integrationsOf(config, { exports, tracer });
  const integrationChecks = checksOf(integrations, { exports, posts, tracer });
  const checks = backendChecks(needs);
  const server = stack.use(
    await createHttpServer({
      name: 'gateway',
      context,
      title: 'Post gateway',
      version: '3.0.0',
      description: 'Manage, search, bulk-load, export and analyse posts.',
      checks,
      optionalChecks: integrationChecks,
      corsOrigin: config.CORS_ORIGIN,
      trustedProxy: config.TRUST_PROXY,
    }),
  );
  const access = new Access({ authz: needs.authz, secret, clock, mfaAssertion: config.MFA_ASSERTION });
  const { rpcAddresses } = needs;
  addIntegrationFigures(metrics, integrationChecks);
  const parts = { app: server.app, access, posts, exports, clock, integrations, environment, rpcAddresses };
  addApi(parts);
  addPages({ ...parts, checks, integrationChecks, secret });
  const url = await server.listen();
  const owned = stack.move();
  return { url, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

async function openExports(
  config: Config<typeof settings>,
  { dataFolder, clock, log, metrics }: ServiceContext,
): Promise<StoredExports | undefined> {
  if (!config.OBJECT_STORE) return undefined;
  const s3 = s3Options(config);
  const store = await (s3 ? openS3Store(s3) : openFolderStore(join(dataFolder, 'objects')));
  const spillFolder = join(dataFolder, 'spill');
  const spillBytesMax = config.EXPORT_SPILL_MIB * 1024 * 1024;
  return new StoredExports({ store, spillFolder, spillBytesMax, clock, log, metrics });
}

function s3Options(config: Config<typeof settings>): S3Options | undefined {
  const { S3_ENDPOINT: endpoint, S3_BUCKET: bucket, S3_REGION: region } = config;
  const { S3_ACCESS_KEY_ID: accessKeyId, S3_SECRET_ACCESS_KEY: secretAccessKey } = config;
  if (endpoint !== undefined && !URL.canParse(endpoint)) refuse({ S3_ENDPOINT: 'must be an address' });
  if (endpoint !== undefined && bucket === undefined) {
    refuse({ S3_BUCKET: 'is required with S3_ENDPOINT' });
  }
  if ((accessKeyId === undefined) !== (secretAccessKey === undefined)) {
    refuse({ S3_ACCESS_KEY_ID: 'and S3_SECRET_ACCESS_KEY belong together' });
  }
  if (bucket === undefined) return undefined;
  const credentials = accessKeyId && secretAccessKey ? { accessKeyId, secretAccessKey } : undefined;
  return { endpoint, bucket, region, credentials };
}

function integrationsOf(
  config: Config<typeof settings>,
  { exports, tracer }: { exports: StoredExports | undefined; tracer: Tracer | undefined },
): Integrations {
  return {
    objectStore: exports !== undefined,
    messageBroker: config.MESSAGE_BROKER,
    eventStream: config.EVENT_STREAM,
    inferenceServer: config.INFERENCE,
    cache: false,
    tracing: tracer !== undefined,
  };
}

/** For the integrations that are on. */
function checksOf(
  integrations: Integrations,
  {
    exports,
    posts,
    tracer,
  }: { exports: StoredExports | undefined; posts: Posts; tracer: Tracer | undefined },
): IntegrationChecks {
  const ofPosts = (['messageBroker', 'eventStream', 'inferenceServer'] as const).filter(
    (name) => integrations[name],
  );
  return {
    ...(tracer && { tracing: () => tracer.ping() }),
    ...(exports && { objectStore: (signal: AbortSignal) => exports.ping(signal) }),
    ...Object.fromEntries(
      ofPosts.map((name) => [name, (signal: AbortSignal) => posts.checkIntegration(name, signal)]),
    ),
  };
}

/** Each asks its backend for something small, so that it fails as well where the backend has lost its database. */
function backendChecks({ posts, authz }: GatewayNeeds) {
  return {
    postsvc: async (signal: AbortSignal) => {
      await posts.listPosts(smallestPage, { signal });
    },
    authsvc: async (signal: AbortSignal) => {
      await authz.listAccounts({}, { signal });
    },
  };
}

const smallestPage = {
  filter: undefined,
  sort: PostSort.POST_SORT_ID,
  descending: true,
  page: 1,
  pageSize: 1,
};
