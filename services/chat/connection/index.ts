export { addressMax, type Connection, keyMax, toAddress } from './connection.ts';
export { type ModelBounds, Models, modelKind } from './models.ts';
export {
  type FoundServer,
  findServers,
  isModelName,
  listModels,
  ServerProblem,
  type Trial,
  tryModel,
} from './probe.ts';
export { Connections, type StoredConnection } from './store.ts';
