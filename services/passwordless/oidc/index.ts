export { grantKnownRole, type SuiteName, serviceOf } from './known-roles.ts';
export { deleteExpiredLogouts, deleteExpiredSignIns, releaseExpiredSignIns } from './logout/store-logouts.ts';
export { addClient, ensureClient, listClients, type NewClient, removeClient } from './store-clients.ts';
export { deleteExpiredRecords } from './store-records.ts';
