import { Gauge, type Registry } from 'prom-client';
import type { Embeddings } from '../embeddings/index.ts';
import { type ChatModel, causes } from '../model/index.ts';
import type { CrossEncoder } from '../retrieval/index.ts';
import type { Connected } from './connected.ts';

/** Outcome of the last request to a server of models. */
interface ServerState {
  /** Words for administrators. */
  readonly state: string;
  readonly isFailing: boolean;
}

export function stateOfModel(model: ChatModel | undefined): ServerState {
  const { failure, isAvailable } = model ?? {};
  if (failure) return { state: causes[failure], isFailing: true };
  return { state: isAvailable ? 'answers' : 'not asked yet', isFailing: false };
}

export function stateOfReranker(reranker: CrossEncoder | undefined): ServerState {
  const { problem } = reranker ?? {};
  return { state: problem ?? 'no failure so far', isFailing: problem !== undefined };
}

export interface Servers {
  readonly models: Connected<ChatModel>;
  readonly rerankers: Connected<CrossEncoder>;
  readonly embeddings: Embeddings | undefined;
}

/** Tells operators which servers of models are used, and how the last request to each ended. It asks none of them. */
export function addServerMetrics(registry: Registry, servers: Servers): void {
  new Gauge({
    name: 'chat_model_server',
    help: 'Servers of models that are in use: 0 if the last request failed, 1 otherwise.',
    labelNames: ['kind', 'model', 'context', 'source', 'state'],
    registers: [registry],
    async collect() {
      // While the database cannot be read, it is not known what is connected.
      const found = await statesOf(servers).catch(() => []);
      this.reset();
      for (const { isFailing, ...labels } of found) this.set(labels, isFailing ? 0 : 1);
    },
  });
}

async function statesOf({ models, rerankers, embeddings }: Servers) {
  const [model, reranker] = [await models.current(), await rerankers.current()];
  const { source, problem } = embeddings?.client ?? {};
  const sourceOf = (isSet: boolean) => (isSet ? 'environment' : 'page');
  return [
    ...(model
      ? [
          {
            kind: 'llm',
            model: model.names.join(', '),
            context: String(model.knownContext ?? ''),
            source: sourceOf(models.isSet),
            ...stateOfModel(model),
          },
        ]
      : []),
    ...(source?.provider === 'openai-compatible'
      ? [
          {
            kind: 'embeddings',
            model: source.model,
            context: '',
            source: sourceOf(true),
            state: problem ?? 'no failure so far',
            isFailing: problem !== undefined,
          },
        ]
      : []),
    ...(reranker
      ? [
          {
            kind: 'reranker',
            model: reranker.name,
            context: '',
            source: sourceOf(rerankers.isSet),
            ...stateOfReranker(reranker),
          },
        ]
      : []),
  ];
}
