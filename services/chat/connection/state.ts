import { Gauge, type Registry } from 'prom-client';
import type { Embeddings, EmbeddingsInUse, VectorSource } from '../embeddings/index.ts';
import { type ChatModel, causes } from '../model/index.ts';
import type { CrossEncoder } from '../retrieval/index.ts';
import type { Connected } from './connected.ts';
import type { ServerWatch } from './watch.ts';

/** The last request to a server. */
interface LastRequest {
  /** Words for administrators; undefined if it was answered, and before the first. */
  readonly problem: string | undefined;
  /** True if a request was answered. */
  readonly isAnswered: boolean;
}

/** State of a server of models. */
interface ServerState {
  /** Words for administrators. */
  readonly state: string;
  readonly isFailing: boolean;
}

/** Outcome of the last request to a server, else of the last look at its models. */
function stateOf(server: object | undefined, last: LastRequest, watch: ServerWatch): ServerState {
  const away = server && watch.problemOf(server);
  const problem = last.problem ?? away;
  if (problem !== undefined) return { state: problem, isFailing: true };
  if (last.isAnswered) return { state: 'answers', isFailing: false };
  return { state: server && watch.isThere(server) ? 'is there' : 'not asked yet', isFailing: false };
}

export function stateOfModel(model: ChatModel | undefined, watch: ServerWatch): ServerState {
  const { failure, isAvailable = false } = model ?? {};
  return stateOf(model, { problem: failure && causes[failure], isAnswered: isAvailable }, watch);
}

export function stateOfEmbeddings(embeddings: Embeddings | undefined, watch: ServerWatch): ServerState {
  const { source, problem, isAnswered = false } = embeddings?.client ?? {};
  return stateOf(source, { problem: problem && `${source?.title} ${problem}`, isAnswered }, watch);
}

export function stateOfReranker(reranker: CrossEncoder | undefined, watch: ServerWatch): ServerState {
  const { problem, isAnswered = false } = reranker ?? {};
  return stateOf(reranker, { problem: problem && `The reranker ${problem}`, isAnswered }, watch);
}

export interface Servers {
  readonly models: Connected<ChatModel>;
  readonly rerankers: Connected<CrossEncoder>;
  readonly vectorServers: Connected<VectorSource>;
  readonly embeddings: EmbeddingsInUse;
}

/** Tells operators which servers of models are used, and how the last request to each ended. It asks none of them. */
export function addServerMetrics(registry: Registry, servers: Servers, watch: ServerWatch): void {
  new Gauge({
    name: 'chat_model_server',
    help: 'Servers of models that are in use: 0 if the last request failed, 1 otherwise.',
    labelNames: ['kind', 'model', 'context', 'source', 'state'],
    registers: [registry],
    async collect() {
      // While the database cannot be read, it is not known what is connected.
      const found = await statesOf(servers, watch).catch(() => []);
      this.reset();
      for (const { isFailing, ...labels } of found) this.set(labels, isFailing ? 0 : 1);
    },
  });
}

async function statesOf({ models, rerankers, vectorServers, embeddings }: Servers, watch: ServerWatch) {
  const [model, reranker] = [await models.current(), await rerankers.current()];
  const server = await vectorServers.current();
  const vectors = server && (await embeddings.current());
  const sourceOf = ({ isSet }: { readonly isSet: boolean }) => (isSet ? 'environment' : 'page');
  const found = [
    model && {
      kind: 'llm',
      model: model.names.join(', '),
      context: String(model.knownContext ?? ''),
      source: sourceOf(models),
      ...stateOfModel(model, watch),
    },
    server && {
      kind: 'embeddings',
      model: server.model,
      context: '',
      source: sourceOf(vectorServers),
      ...stateOfEmbeddings(vectors, watch),
    },
    reranker && {
      kind: 'reranker',
      model: reranker.name,
      context: '',
      source: sourceOf(rerankers),
      ...stateOfReranker(reranker, watch),
    },
  ];
  return found.filter((each) => each !== undefined);
}
