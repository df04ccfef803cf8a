import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Clock, Environment, Log } from '@octavo/core';
import { AppError, networkOf } from '@octavo/core';
import { RateLimiter, storedSecret, TokenBucket } from '@octavo/core/auth';
import { Background, runEvery } from '@octavo/core/concurrency';
import { type Database, DatabaseHealth, healthMigrations } from '@octavo/data';
import { openTableJobs } from '@octavo/data/jobs';
import {
  configOf,
  defineService,
  openServiceDatabase,
  type ServiceContext,
  type ServiceParts,
} from '@octavo/data/service';
import { checkOidc, oidcMigrations, providerOf } from '@octavo/people/sign-in';
import {
  clientAddress,
  createHttpServer,
  type HttpApp,
  type HttpServer,
  limitRequests,
  rateLimited,
  takeAll,
} from '@octavo/web/server';
import { addCatalogApi } from './catalog/api.ts';
import { addCompletionApi } from './completions/api.ts';
import {
  addServerMetrics,
  Connected,
  type Connection,
  Connections,
  modelNames,
  ServerWatch,
} from './connection/index.ts';
import { addDocumentApi } from './documents/api.ts';
import { addDocumentMetrics, rereadDocuments, resumeDocuments, settleDocuments } from './documents/index.ts';
import { refilledWords } from './documents/store/refill.ts';
import { completeErasures } from './erasure.ts';
import { errorBody, errorTable } from './errors.ts';
import {
  evaluateStrategies,
  indexSet,
  missingDocuments,
  readLabelledSet,
  type StrategyScores,
  sharedLibraries,
} from './evaluation/index.ts';
import { Parser } from './extraction/index.ts';
import {
  createSignIn,
  foreignOrigins,
  Gate,
  type GateOptions,
  openPeople,
  type Usage,
  type UsageLimit,
} from './gate/index.ts';
import type { LibraryRules } from './library.ts';
import { addLive } from './live/live.ts';
import { addMcpApi } from './mcp/api.ts';
import { McpServers, parseServers } from './mcp/index.ts';
import { ChatModel, type ModelOptions } from './model/index.ts';
import { addPages } from './pages/pages.ts';
import { CrossEncoder, Retriever } from './retrieval/index.ts';
import { holdsOwnDocuments, seedHandbook } from './seed/seed.ts';
import { addSessionApi } from './sessions/api.ts';
import { countRatings, deleteExpired } from './sessions/index.ts';
import { type ChatConfig, checkSettings, settings } from './settings.ts';
import { addShareApi } from './sharing/api.ts';
import { deleteEndedShares } from './sharing/index.ts';
import type { Tables } from './tables.ts';
import { DomainApi, Names, type ToolCalls } from './tools/index.ts';
import { addTurnApi } from './turns/api.ts';
import { createTurnMetrics, TurnRegistry } from './turns/index.ts';
import { openVectors } from './vectors.ts';

export { checkConnections, checkServers, type ServerCheck } from './connection/check.ts';
export type { StrategyScores } from './evaluation/index.ts';

const secretFile = 'chat-secret';
const burstMax = 10;
const sweepMs = 3_600_000;
const jobLeaseMs = 30_000;

/** Answers questions from documents, with the passages that it quotes. */
export const chat = defineService({
  name: 'chat',
  summary: 'Answers from your documents, with the passages they are quoted from',
  settings,
  migrations: [healthMigrations, oidcMigrations, new URL('./migrations/', import.meta.url)],
  derived: { chunk_words: refilledWords },
  backupFiles: [secretFile],
  keptSecrets: { CHAT_SECRET: secretFile },
  checks: [checkSettings, checkOidc],
  build,
});

async function build(parts: ServiceParts<typeof settings>) {
  const { config, context, stack, openDatabase } = parts;
  const { clock, log, dataFolder, environment, metrics } = context;
  const secret = config.CHAT_SECRET ?? (await storedSecret(join(dataFolder, secretFile)));
  const database = await openDatabase<Tables>();
  addDocumentMetrics(metrics, database);
  const jobOptions = { clock, log, metrics, leaseMs: jobLeaseMs };
  const servers = await openServers(parts, database, secret);
  const { models, embeddings, rerankers } = servers;
  const retriever = stack.use(new Retriever(database, { embeddings, crossEncoders: rerankers }));
  const background = stack.use(new Background(log));
  const parser = stack.use(new Parser({ log }));
  const people = openPeople(parts, { database, secret, gateOf: () => gate });
  const sites = () => context.suite?.sites().map(({ url }) => url) ?? [];
  const isForeign = foreignOrigins(config.CORS_ORIGIN, sites);
  const gate: Gate = createGate(config, { secret, clock, people, isForeign });
  const health = new DatabaseHealth({ database, log });
  const server = stack.use(await createServer(parts, health));
  const library = libraryRulesOf(config);
  await settleDocuments(database, library, log);
  const domain = domainOf(config, clock);
  const jobs = stack.use(openTableJobs(database, jobOptions));
  stack.use(embeddings.work(jobs));
  const mcpServers = config.CHAT_MCP_SERVERS
    ? new McpServers(parseServers(config.CHAT_MCP_SERVERS), { clock, log })
    : undefined;
  const foreignTools = mcpServers && ((calls: ToolCalls) => mcpServers.offers(calls));
  const turnParts = { database, retriever, clock, library, models, domain, foreignTools };
  const generationsMax = config.CHAT_GENERATIONS_MAX;
  const turns = stack.use(
    new TurnRegistry({ ...turnParts, log, metrics: createTurnMetrics(metrics), generationsMax }),
  );
  const shared = { database, clock, gate, library };
  if (people) dropEndedSessions(server.app, gate);
  const onIndexed = () =>
    background.run('queueing vectors', async () => (await embeddings.current())?.wake());
  const ingest = { ...shared, parser, log, background, onIndexed };
  const oidc = people?.oidc;
  addPages(server.app, {
    ...shared,
    turns,
    secret,
    publicUrl: config.OIDC_ADDRESS,
    ingest,
    oidc,
    ...servers,
    environment,
  });
  addTurnApi(server.app, { turns, gate });
  const startedAt = Math.floor(clock.now() / 1_000);
  addCompletionApi(server.app, { turns, gate, models, startedAt });
  addMcpApi(server.app, { turns, gate });
  addSessionApi(server.app, shared);
  addShareApi(server.app, { ...shared, secret, publicUrl: config.OIDC_ADDRESS });
  addDocumentApi(server.app, ingest);
  stack.use(addLive(server.app, { turns, gate, log, trustedProxy: config.TRUST_PROXY }));
  const { GATEWAY_AUTH: authMode } = config;
  const engines = { ...servers, domain: domain?.api, servers: mcpServers };
  addCatalogApi(server.app, { ...shared, ...engines, health, log, environment, authMode });
  background.run('reading vectors', () => retriever.preload());
  stack.use(resumeDocuments(ingest));
  stack.use(rereadDocuments({ ...shared, log, background }, jobs));
  const sweep = () => removeExpired(database, clock.now());
  const failure = 'expired sessions could not be deleted';
  stack.use(runEvery(sweepMs, sweep, { log, failure, startsNow: true }));
  return { url: await server.listen() };
}

/** Servers of models that the settings name, or that administrators connect. */
async function openServers(
  { config, context, stack }: ServiceParts<typeof settings>,
  database: Database<Tables>,
  secret: string,
) {
  const { clock, log, metrics } = context;
  const connections = new Connections(database, { secret, hasOwnSecret: config.CHAT_SECRET === undefined });
  const servers = {
    ...(await openVectors(config, connections, { clock, log, metrics, database }, stack)),
    models: modelsOf(config, connections, log),
    rerankers: rerankersOf(config, connections, clock),
  };
  const watch = new ServerWatch(servers);
  stack.use(watch.start(log));
  addServerMetrics(metrics, servers, watch);
  return { ...servers, connections, watch };
}

async function removeExpired(database: Database<Tables>, nowMs: number): Promise<void> {
  await completeErasures(database, nowMs);
  await deleteExpired(database, nowMs);
  await deleteEndedShares(database, nowMs);
}

function createServer(
  { config, context }: ServiceParts<typeof settings>,
  health: DatabaseHealth<Tables>,
): Promise<HttpServer> {
  return createHttpServer({
    name: 'chat',
    context,
    title: 'Chat',
    description: 'Questions answered from documents, with citations that can be checked.',
    checks: { database: () => health.run() },
    errorTable,
    errorBody,
    invalidJsonCode: 'invalid_json',
    hasOwnHealth: true,
    securitySchemes: {
      bearer: { type: 'http', scheme: 'bearer' },
      apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key' },
    },
    trustedProxy: config.TRUST_PROXY,
    ...(config.CORS_ORIGIN !== undefined && { corsOrigin: config.CORS_ORIGIN }),
  });
}

/** A browser whose session has ended at the OpenID provider is a stranger. */
function dropEndedSessions(app: HttpApp, gate: Gate): void {
  app.addHook('onRequest', async ({ headers }) => {
    if (headers.cookie === undefined) return;
    headers.cookie = await gate.withoutEnded(headers.cookie, app.parseCookie(headers.cookie));
  });
}

/**
 * Loads the handbook of a fictitious firm without serving, and returns how many documents are new; undefined beside the owner's own
 * unless it is forced.
 */
export async function loadHandbook(
  environment: Environment,
  context: ServiceContext,
  isForced = false,
): Promise<number | undefined> {
  const { log, clock } = context;
  const config = configOf(chat, environment, log);
  await using database = await openServiceDatabase<Tables>(chat, config, context);
  await using background = new Background(log);
  await using parser = new Parser({ log });
  const library = libraryRulesOf(config);
  await settleDocuments(database, library, log);
  const parts = { database, clock, log, background, parser, library };
  if (!isForced && (await holdsOwnDocuments(parts))) return undefined;
  return await seedHandbook(parts);
}

/** Each usage has a limit a minute by key, else by address; questions also one on bursts. */
function createGate(
  config: ChatConfig,
  parts: Pick<GateOptions, 'secret' | 'clock' | 'people' | 'isForeign'>,
): Gate {
  const { clock } = parts;
  const limitOf = (name: Usage, requestsMax: number): UsageLimit => {
    if (requestsMax === 0) return { count: () => {}, take: () => {} };
    const limiter = new RateLimiter({ requestsMax, windowMs: 60_000, keysMax: 100_000 });
    const burst = Math.min(burstMax, requestsMax);
    const bursts = new TokenBucket({ burst, perMinute: requestsMax, keysMax: 100_000 });
    const limits =
      name === 'chat'
        ? [
            { name, limiter },
            { name: 'burst', limiter: bursts },
          ]
        : [{ name, limiter }];
    return {
      count: limitRequests(limits, clock),
      take(client) {
        const refused = takeAll(limits, client, clock.now()).find(({ isAllowed }) => !isAllowed);
        if (refused) throw rateLimited(refused.resetSeconds);
      },
    };
  };
  const signIn = createSignIn({
    mode: config.GATEWAY_AUTH,
    apiKeys: config.CHAT_API_KEYS,
    jwtSecret: config.CHAT_JWT_SECRET,
    clock,
    jwksUrl: config.CHAT_JWKS_URL,
    algorithms: config.CHAT_JWT_ALGORITHMS,
    issuer: config.CHAT_JWT_ISSUER,
    audience: config.CHAT_JWT_AUDIENCE,
  });
  return new Gate({
    ...parts,
    signIn,
    limits: {
      chat: limitOf('chat', config.CHAT_RATE_LIMIT),
      upload: limitOf('upload', config.UPLOAD_RATE_LIMIT),
      session: limitOf('session', config.SESSION_RATE_LIMIT),
      read: limitOf('read', config.READ_RATE_LIMIT),
    },
    addressOf: (request) => networkOf(clientAddress(request)),
  });
}

function libraryRulesOf(config: ChatConfig): LibraryRules {
  const hasPeople = providerOf(config) !== undefined;
  const { CHAT_LIBRARY: mode, GATEWAY_AUTH: auth } = config;
  return { mode, hasSignIn: hasPeople || auth !== 'none', hasAdministrators: hasPeople || auth === 'jwt' };
}

function modelsOf(config: ChatConfig, connections: Connections, log: Log): Connected<ChatModel> {
  const { LLM_BASE_URL: baseUrl, LLM_MODEL: model = '', LLM_API_KEY: apiKey } = config;
  const bounds: Omit<ModelOptions, 'baseUrl' | 'apiKey' | 'names'> = {
    timeoutMs: config.LLM_TIMEOUT_MS,
    firstTokenTimeoutMs: config.LLM_FIRST_TOKEN_TIMEOUT_MS,
    contextTokens: config.LLM_CONTEXT_TOKENS,
    log,
  };
  return new Connected({
    kind: 'llm',
    set: baseUrl === undefined ? undefined : { baseUrl, apiKey, model },
    connections,
    open: (connection) => new ChatModel({ ...bounds, ...connection, names: modelNames(connection) }),
  });
}

function rerankersOf(config: ChatConfig, connections: Connections, clock: Clock): Connected<CrossEncoder> {
  const set = rerankConnection(config);
  return new Connected({ kind: 'reranker', set, connections, open: (each) => crossEncoder(each, clock) });
}

function rerankConnection(config: ChatConfig): Connection | undefined {
  const { RERANK_BASE_URL: baseUrl, RERANK_MODEL: model = '', RERANK_API_KEY: apiKey } = config;
  return baseUrl === undefined ? undefined : { baseUrl, model, apiKey };
}

function crossEncoder({ model, ...server }: Connection, clock: Clock): CrossEncoder {
  return new CrossEncoder({ ...server, model: model || undefined, clock });
}

function domainOf({ DOMAIN_API_URL: url, DOMAIN_API_KEY: clientSecret }: ChatConfig, clock: Clock) {
  if (url === undefined) return undefined;
  const api = new DomainApi({ url, clientSecret, clock });
  return { api, names: new Names(api, clock) };
}

export interface EvaluationOptions {
  /** True to order passages by the reranker of the settings too. Throws `invalid_input` without one. */
  readonly hasCrossEncoder?: boolean;
  readonly onMissing?: (names: readonly string[]) => void;
  readonly onRatings?: (ratings: { readonly up: number; readonly down: number }) => void;
}

/**
 * Measures how well each strategy finds the right documents for the questions of a labeled set; see `readLabelledSet` for its
 * form. `onMissing` gets documents that questions name and that do not exist, `onRatings` the ratings of answers in the database.
 */
export async function evaluateSet(
  environment: Environment,
  context: ServiceContext,
  path: string,
  { onMissing = () => {}, onRatings = () => {}, hasCrossEncoder = false }: EvaluationOptions = {},
): Promise<StrategyScores[]> {
  const set = await readLabelledSet(path);
  const config = configOf(chat, environment);
  const reranker = hasCrossEncoder ? rerankConnection(config) : undefined;
  if (hasCrossEncoder && !reranker) throw new AppError('invalid_input', 'Set RERANK_BASE_URL first.');
  const engines = { crossEncoder: reranker && crossEncoder(reranker, context.clock) };
  const secret = config.CHAT_SECRET ?? (await storedSecret(join(context.dataFolder, secretFile)));
  await using stack = new AsyncDisposableStack();
  const openEmbeddings = async (database: Database<Tables>, isOnlyRead: boolean) => {
    const connections = new Connections(database, { secret, hasOwnSecret: false });
    const parts = { clock: context.clock, log: context.log, database, isOnlyRead };
    return (await openVectors(config, connections, parts, stack)).embeddings;
  };
  if (!set.documents) {
    await using database = await openServiceDatabase<Tables>(chat, config, context);
    await settleDocuments(database, libraryRulesOf(config), context.log);
    const embeddings = await openEmbeddings(database, true);
    const libraries = await sharedLibraries(database);
    onMissing(await missingDocuments(database, set, libraries));
    onRatings(await countRatings(database));
    return await evaluateStrategies(database, set, { ...engines, libraries, embeddings });
  }
  const folder = await mkdtemp(join(tmpdir(), 'octavo-chat-'));
  try {
    const apart = { ...config, DATABASE_URL: undefined };
    await using database = await openServiceDatabase<Tables>(chat, apart, { ...context, dataFolder: folder });
    const libraries = [await indexSet(database, set.documents)];
    onMissing(await missingDocuments(database, set, libraries));
    const embeddings = await openEmbeddings(database, false);
    await embeddings.known?.fill(new AbortController().signal);
    return await evaluateStrategies(database, set, { ...engines, libraries, embeddings });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
