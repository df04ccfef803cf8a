// The browser client that the package of the server brings, as `pages.ts` serves it.
export { io, type Socket } from 'socket.io-client';
