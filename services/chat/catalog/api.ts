import type { Clock, Log } from '@octavo/core';
import { isFromThisMachine, productVersion, Type } from '@octavo/core';
import type { Database, DatabaseHealth } from '@octavo/data';
import type { HttpApp } from '@octavo/web/server';
import { answersDuringOverload, ReadinessCheck } from '@octavo/web/server';
import type { Connected } from '../connection/index.ts';
import { countVisible, reachOf, shownLimits } from '../documents/index.ts';
import type { Embeddings, EmbeddingsInUse } from '../embeddings/index.ts';
import type { Gate } from '../gate/index.ts';
import { embeddingDimensions, embeddingModel } from '../indexing.ts';
import { hasLibrary, type LibraryRules } from '../library.ts';
import type { McpServers } from '../mcp/index.ts';
import { type ChatModel, causes } from '../model/index.ts';
import type { Owner } from '../owner.ts';
import { type CrossEncoder, defaultStrategy, rerankerModel, strategies } from '../retrieval/index.ts';
import { routes } from '../routes.ts';
import type { Tables } from '../tables.ts';
import { type DomainApi, domainTools } from '../tools/index.ts';

export interface CatalogParts {
  readonly database: Database<Tables>;
  readonly health: DatabaseHealth<Tables>;
  readonly log: Log;
  readonly clock: Clock;
  readonly gate: Gate;
  readonly environment: string;
  readonly authMode: string;
  readonly models: Connected<ChatModel>;
  readonly embeddings: EmbeddingsInUse;
  readonly rerankers: Connected<CrossEncoder>;
  readonly domain: DomainApi | undefined;
  readonly servers: McpServers | undefined;
  readonly library: LibraryRules;
}

const tags = ['System'];
const StrategyList = Type.Object({
  strategies: Type.Array(Type.Unknown()),
  default: Type.String(),
  reranking: Type.Unknown(),
});
const listedStrategies = strategies.map((strategy) => ({
  ...strategy,
  available: true,
  default: strategy.id === defaultStrategy,
}));

/** Adds the routes for capabilities, versions and limits, and the probes. */
export function addCatalogApi(app: HttpApp, parts: CatalogParts): void {
  addLists(app, parts);
  addSystemInfo(app, parts);
  addProbes(app, parts);
}

function addLists(app: HttpApp, { gate, domain, models, servers, rerankers }: CatalogParts): void {
  const access = gate.access('read');
  app.get(
    routes.strategies,
    {
      access,
      schema: {
        tags,
        summary: 'Retrieval strategies',
        description:
          'Returns each strategy with its id, a name and what it is for. Give the id as `strategy` of a question or a search.',
        response: { 200: StrategyList },
      },
    },
    async () => {
      const model = (await rerankers.current())?.name ?? rerankerModel;
      return {
        strategies: listedStrategies,
        default: defaultStrategy,
        reranking: { enabled: true, model },
      };
    },
  );
  const ToolList = Type.Object({ tools: Type.Array(Type.Unknown()), count: Type.Integer() });
  app.get(
    routes.tools,
    {
      access,
      schema: {
        tags,
        summary: 'Tools for answers',
        description:
          'Returns the tools that an answer may call, with their parameters: search of documents, and the resources of the domain API where one is configured.',
        response: { 200: ToolList },
      },
    },
    async () => {
      const own = domainTools.map(({ name, description, path, parameters, returns }) => ({
        name,
        description,
        method: 'GET',
        path: path.replace(':id', '{id}'),
        parameters,
        returns,
        source: 'domain',
        enabled: domain !== undefined,
      }));
      const model = await models.current();
      const foreign = ((await servers?.tools()) ?? []).map((tool) => ({
        ...tool,
        method: 'MCP',
        path: '',
        returns: 'Message of the server',
        source: 'mcp',
        enabled: model !== undefined,
      }));
      const tools = [...own, ...foreign];
      return { tools, count: tools.length };
    },
  );
}

function addSystemInfo(app: HttpApp, parts: CatalogParts): void {
  const { database, clock, gate, models, domain, environment, authMode } = parts;
  const startedAtMs = clock.now();
  const schema = {
    tags,
    summary: 'Versions and limits',
    description:
      'Returns versions, the model and the engines in use, the limits of documents and questions, and how many documents you may see.',
    response: { 200: Type.Unknown({ title: 'SystemInfo' }) },
  };
  const { library, rerankers } = parts;
  const counted = async (owner: Owner, embeddings: Embeddings | undefined) =>
    hasLibrary(library, owner)
      ? countVisible(database, reachOf(library, owner), embeddings?.modelId)
      : { documents: 0, chunks: 0, embedded: 0 };
  app.get(routes.systemInfo, { access: gate.access('read'), schema }, async (request) => {
    const embeddings = await parts.embeddings.current();
    const { documents, chunks, embedded } = await counted(gate.ownerOf(request), embeddings);
    const [model, crossEncoder] = [await models.current(), await rerankers.current()];
    const canMend = gate.hasSignIn
      ? (await gate.identityOf(request)).isAdmin
      : isFromThisMachine(request.headers);
    return {
      name: 'octavo chat',
      version: productVersion(),
      environment,
      started_at: new Date(startedAtMs).toISOString(),
      uptime_s: Math.round((clock.now() - startedAtMs) / 1_000),
      llm: {
        provider: model ? 'openai-compatible' : null,
        model: model?.defaultName ?? null,
        configured: model !== undefined,
        available: model !== undefined && model.isAvailable !== false,
        // For those who can mend it.
        ...(model?.failure && canMend && { problem: causes[model.failure] }),
      },
      embedding: await embeddingInfo(embeddings, { chunks, embedded }),
      reranker: {
        enabled: true,
        model: crossEncoder?.name ?? rerankerModel,
        ...(crossEncoder?.problem !== undefined &&
          canMend && { problem: `The reranker ${crossEncoder.problem}.` }),
      },
      store: { driver: database.dialect, documents, chunks },
      domain_api: {
        configured: domain !== undefined,
        reachable: domain?.isReachable ?? null,
        last_ok_at: domain?.lastOkAtMs === undefined ? null : new Date(domain.lastOkAtMs).toISOString(),
      },
      strategies: listedStrategies.map(({ id }) => id),
      limits: shownLimits,
      features: { ...features, auth: gate.hasSignIn },
      security: { auth_mode: authMode },
    };
  });
}

async function embeddingInfo(
  embeddings: Embeddings | undefined,
  progress: { readonly chunks: number; readonly embedded: number },
) {
  if (!embeddings)
    return { provider: 'builtin', model: embeddingModel, dimensions: embeddingDimensions, available: true };
  const { source, problem } = embeddings.client;
  return {
    provider: source.provider,
    model: source.model,
    dimensions: (await embeddings.dimensions()) ?? null,
    available: problem === undefined,
    ...progress,
  };
}

const features = { streaming: true, socketio: true, sse: true, uploads: true, auth: false, mcp: true };

function addProbes(app: HttpApp, { health, log, models }: CatalogParts): void {
  const probe = { access: 'public', config: answersDuringOverload } as const;
  const Status = Type.Object({ status: Type.String() });
  const Checks = Type.Object({ status: Type.String(), checks: Type.Unknown() });
  const live = {
    tags: ['Probes'],
    summary: 'Check that the process responds',
    description: 'Answers without any input or output, so that it also answers while the database does not.',
    response: { 200: Status },
  };
  const ready = {
    tags: ['Probes'],
    summary: 'Check that questions can be answered',
    description:
      'Writes to the database, and says whether the model and the domain API answered last. 503 if the database cannot be written.',
    response: { 200: Checks, 503: Checks },
  };
  app.get(routes.livez, { ...probe, schema: live }, async () => ({ status: 'ok' }));
  const store = new ReadinessCheck('store', () => health.run(), log);
  const check = async () => {
    const startMs = performance.now();
    const isUp = (await store.verdict()) === 'ok';
    const latency_ms = Math.round(performance.now() - startMs);
    const model = models.known;
    const status = !model ? 'disabled' : model.isAvailable === false ? 'failing' : 'ok';
    const checks = {
      store: { status: isUp ? 'ok' : 'failing', latency_ms },
      llm: { status, required: false },
    };
    return { isUp, isModelUp: status !== 'failing', checks };
  };
  app.get(routes.readyz, { ...probe, schema: ready }, async (_request, reply) => {
    const { isUp, checks } = await check();
    return reply.code(isUp ? 200 : 503).send({ status: isUp ? 'ready' : 'not_ready', checks });
  });
  app.get(routes.health, { ...probe, schema: ready }, async (_request, reply) => {
    const { isUp, isModelUp, checks } = await check();
    const status = !isUp ? 'unhealthy' : isModelUp ? 'ok' : 'degraded';
    return reply.code(isUp ? 200 : 503).send({ status, checks });
  });
}
