/** Clients that call over the network. */
export { remoteClient } from './client/remote.ts';
