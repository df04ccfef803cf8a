export { Connected } from './connected.ts';
export { addressMax, type Connection, keyMax, modelNameMax, toAddress } from './connection.ts';
export {
  type FoundServer,
  findReranker,
  findServers,
  isModelName,
  listModels,
  type RerankTrial,
  ServerProblem,
  type Trial,
  tryModel,
  tryReranker,
} from './probe.ts';
export { addServerMetrics, stateOfModel, stateOfReranker } from './state.ts';
export { type ConnectionKind, Connections, connectionKinds, type StoredConnection } from './store.ts';
