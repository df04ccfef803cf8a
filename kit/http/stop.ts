import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyApp } from './access.ts';
import type { ActiveRequests } from './active-requests.ts';
import type { Limits } from './options.ts';

/**
 * Returns the function that stops a server. It accepts no new connections and closes idle ones. Requests in flight end or are cut
 * after the grace time. During that time each response closes its connection, so that clients go elsewhere before a connection
 * closes while they use it.
 */
export function createStop(app: FastifyApp, active: ActiveRequests, limits: Limits): () => Promise<void> {
  const sockets = new Set<Socket>();
  app.server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    // Looked up now, because the access log needs it even after the connection is gone.
    void socket.remoteAddress;
    socket.once('close', () => sockets.delete(socket));
  });
  let stopped: Promise<void> | undefined;
  return () => {
    stopped ??= stop();
    return stopped;
  };

  async function stop(): Promise<void> {
    active.isStopping = true;
    if (limits.drainMs > 0) await sleep(limits.drainMs);
    // Also connections that have switched to another protocol.
    const grace = setTimeout(() => {
      for (const socket of sockets) socket.destroy();
    }, limits.graceMs);
    // Fastify closes the connections that are idle now, but not those that become idle later.
    const idle = setInterval(() => app.server.closeIdleConnections(), idleCheckMs);
    await app.close();
    clearInterval(idle);
    clearTimeout(grace);
  }
}

const idleCheckMs = 50;
