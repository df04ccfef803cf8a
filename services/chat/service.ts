import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RateLimiter } from '#kit/auth/rate-limiter.ts';
import { storedSecret } from '#kit/auth/stored-secret.ts';
import { TokenBucket } from '#kit/auth/token-bucket.ts';
import { Background } from '#kit/background.ts';
import type { Clock } from '#kit/clock.ts';
import type { Environment } from '#kit/config.ts';
import type { Database } from '#kit/db/index.ts';
import { clientAddress } from '#kit/http/client-address.ts';
import { limitRequests, rateLimited, takeAll } from '#kit/http/rate-limit.ts';
import { createHttpServer } from '#kit/http/server.ts';
import { networkOf } from '#kit/network.ts';
import {
  configOf,
  defineService,
  openServiceDatabase,
  type ServiceContext,
  type ServiceParts,
} from '#kit/service.ts';
import { addCatalogApi } from './catalog/api.ts';
import { addCompletionApi } from './completions/api.ts';
import { addDocumentApi } from './documents/api.ts';
import { resumeDocuments } from './documents/index.ts';
import { errorBody, errorTable } from './errors.ts';
import {
  evaluateStrategies,
  indexSet,
  readLabelledSet,
  type StrategyScores,
  sharedLibraries,
} from './evaluation/index.ts';
import { Parser } from './extraction/index.ts';
import { createSignIn, Gate, type Usage, type UsageLimit } from './gate/index.ts';
import { addLive } from './live/live.ts';
import { addMcpApi } from './mcp/api.ts';
import { McpServers, parseServers } from './mcp/index.ts';
import { ChatModel } from './model/index.ts';
import { addPages } from './pages/pages.ts';
import { Retriever } from './retrieval/index.ts';
import { seedHandbook } from './seed/seed.ts';
import { addSessionApi } from './sessions/api.ts';
import { deleteExpired } from './sessions/index.ts';
import { type ChatConfig, checkSettings, settings } from './settings.ts';
import type { Tables } from './tables.ts';
import { DomainApi, Names, type ToolCalls } from './tools/index.ts';
import { addTurnApi } from './turns/api.ts';
import { createTurnMetrics, Turns } from './turns/index.ts';

export type { StrategyScores } from './evaluation/index.ts';

const secretFile = 'chat-secret';
const burstMax = 10;
const sweepMs = 3_600_000;

/** Answers questions from documents, with the passages that it quotes. */
export const chat = defineService({
  name: 'chat',
  summary: 'Answers from your documents, with the passages they are quoted from',
  settings,
  migrations: new URL('./migrations/', import.meta.url),
  backupFiles: [secretFile],
  checks: [checkSettings],
  build,
});

async function build({ config, context, stack, openDatabase }: ServiceParts<typeof settings>) {
  const { clock, log, dataFolder, environment, metrics } = context;
  const secret = config.CHAT_SECRET ?? (await storedSecret(join(dataFolder, secretFile)));
  const database = await openDatabase<Tables>();
  const background = stack.use(new Background(log));
  const parser = stack.use(new Parser({ log }));
  const gate = createGate(config, { secret, clock });
  const server = stack.use(
    await createHttpServer({
      name: 'chat',
      context,
      title: 'Chat',
      description: 'Questions answered from documents, with citations that can be checked.',
      checks: { database: () => database.ping() },
      ...{ errorTable, errorBody, invalidJsonCode: 'invalid_json', hasOwnHealth: true },
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer' },
        apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key' },
      },
      trustedProxy: config.TRUST_PROXY,
    }),
  );
  const libraryMode = libraryModeOf(config);
  const model = modelOf(config);
  const domain = domainOf(config, clock);
  const retriever = new Retriever(database);
  const servers = config.CHAT_MCP_SERVERS
    ? new McpServers(parseServers(config.CHAT_MCP_SERVERS), { clock, log })
    : undefined;
  const foreignTools = servers && ((calls: ToolCalls) => servers.offers(calls));
  const turnParts = { database, retriever, clock, libraryMode, model, domain, foreignTools };
  const turns = stack.use(
    new Turns({
      ...turnParts,
      metrics: createTurnMetrics(metrics),
      generationsMax: config.CHAT_GENERATIONS_MAX,
    }),
  );
  const shared = { database, clock, gate, libraryMode };
  const ingest = { ...shared, parser, log, background };
  addPages(server.app, { ...shared, turns, secret, ingest });
  addTurnApi(server.app, { turns, gate });
  const startedAt = Math.floor(clock.now() / 1_000);
  addCompletionApi(server.app, { turns, gate, model, startedAt });
  addMcpApi(server.app, { turns, gate });
  addSessionApi(server.app, shared);
  addDocumentApi(server.app, ingest);
  stack.use(addLive(server.app, { turns, gate, log, trustedProxy: config.TRUST_PROXY }));
  const { GATEWAY_AUTH: authMode } = config;
  addCatalogApi(server.app, {
    database,
    clock,
    gate,
    environment,
    model,
    domain: domain?.api,
    authMode,
    servers,
  });
  background.run('reading vectors', () => retriever.preload());
  stack.use(resumeDocuments(ingest));
  stack.use(sweepSessions(database, clock));
  return { url: await server.listen() };
}

/** Loads the handbook of a fictitious firm without serving, and returns how many documents are new. */
export async function loadHandbook(environment: Environment, context: ServiceContext): Promise<number> {
  const { log, clock } = context;
  const config = configOf(chat, environment, log);
  await using database = await openServiceDatabase<Tables>(chat, config, context);
  await using background = new Background(log);
  await using parser = new Parser({ log });
  return await seedHandbook({ database, clock, log, background, parser });
}

/** Each usage has a limit a minute by key, else by address; questions also one on bursts. */
function createGate(config: ChatConfig, { secret, clock }: { secret: string; clock: Clock }): Gate {
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
    ...{ mode: config.GATEWAY_AUTH, apiKeys: config.CHAT_API_KEYS, jwtSecret: config.CHAT_JWT_SECRET, clock },
    ...{ jwksUrl: config.CHAT_JWKS_URL, algorithms: config.CHAT_JWT_ALGORITHMS },
    ...{ issuer: config.CHAT_JWT_ISSUER, audience: config.CHAT_JWT_AUDIENCE },
  });
  return new Gate({
    ...{ secret, signIn, clock },
    limits: {
      chat: limitOf('chat', config.CHAT_RATE_LIMIT),
      upload: limitOf('upload', config.UPLOAD_RATE_LIMIT),
      session: limitOf('session', config.SESSION_RATE_LIMIT),
      read: limitOf('read', config.READ_RATE_LIMIT),
    },
    addressOf: (request) => networkOf(clientAddress(request)),
  });
}

function libraryModeOf({ CHAT_LIBRARY: mode, GATEWAY_AUTH: auth }: ChatConfig): 'shared' | 'own' {
  if (mode !== 'auto') return mode;
  return auth === 'none' ? 'shared' : 'own';
}

function modelOf(config: ChatConfig): ChatModel | undefined {
  const { LLM_BASE_URL: baseUrl, LLM_MODEL = '', LLM_API_KEY: apiKey, LLM_TIMEOUT_MS: timeoutMs } = config;
  if (baseUrl === undefined) return undefined;
  const names = LLM_MODEL.split(',').map((name) => name.trim());
  return new ChatModel({ baseUrl, apiKey, names: names.filter((name) => name !== ''), timeoutMs });
}

function domainOf({ DOMAIN_API_URL: url, DOMAIN_API_KEY: clientSecret }: ChatConfig, clock: Clock) {
  if (url === undefined) return undefined;
  const api = new DomainApi({ url, clientSecret, clock });
  return { api, names: new Names(api, clock) };
}

/** Removes sessions that have expired, now and then. They are not found before that either. */
function sweepSessions(database: Database<Tables>, clock: Clock): Disposable {
  const sweep = () => deleteExpired(database, clock.now()).catch(() => undefined);
  const timer = setInterval(sweep, sweepMs).unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

/** How well each strategy finds the right documents for the questions of a labelled set; see `readLabelledSet` for what it may be. */
export async function evaluateSet(
  environment: Environment,
  context: ServiceContext,
  path: string,
): Promise<StrategyScores[]> {
  const set = await readLabelledSet(path);
  const config = configOf(chat, environment);
  if (!set.documents) {
    await using database = await openServiceDatabase<Tables>(chat, config, context);
    return await evaluateStrategies(database, set, await sharedLibraries(database));
  }
  const folder = await mkdtemp(join(tmpdir(), 'octavo-chat-'));
  try {
    const apart = { ...config, DATABASE_URL: undefined };
    await using database = await openServiceDatabase<Tables>(chat, apart, { ...context, dataFolder: folder });
    return await evaluateStrategies(database, set, [await indexSet(database, set.documents)]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
