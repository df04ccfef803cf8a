export { addClient, ensureClient, listClients, type NewClient, removeClient } from './store-clients.ts';
export { deleteExpiredLogouts, deleteExpiredSignIns, releaseExpiredSignIns } from './store-logouts.ts';
export { deleteExpiredRecords } from './store-records.ts';
