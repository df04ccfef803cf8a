export { Connected } from './connected.ts';
export { addressMax, type Connection, keyMax, modelNameMax, modelNames, toAddress } from './connection.ts';
export {
  type EmbeddingsTrial,
  type FoundServer,
  findServer,
  findServers,
  isModelName,
  listModels,
  type OrderTrial,
  ServerProblem,
  type Trial,
  tryEmbeddings,
  tryModel,
  tryReranker,
} from './probe.ts';
export { addServerMetrics, stateOfEmbeddings, stateOfModel, stateOfReranker } from './state.ts';
export { type ConnectionKind, Connections, connectionKinds, type StoredConnection } from './store.ts';
export { ServerWatch } from './watch.ts';
