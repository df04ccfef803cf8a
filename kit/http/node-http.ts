/**
 * Node's `node:http`, got without an import: an import reads every export once, and that of `WebSocket` loads all of Node's fetch with it,
 * 40 ms and 17 MB of each process that never calls it.
 */
export const http = process.getBuiltinModule('node:http');
