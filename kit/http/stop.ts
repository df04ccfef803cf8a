import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyApp } from './access.ts';
import type { ActiveRequests } from './active-requests.ts';
import type { Limits } from './options.ts';

/**
 * Gives the function that stops a server: no new connections, idle ones closed, requests in flight ended or, past the grace
 * time, cut. While it drains, each response is the last of its connection, so that clients go elsewhere before
 * anything is closed under them.
 */
export function createStop(app: FastifyApp, active: ActiveRequests, limits: Limits): () => Promise<void> {
  const sockets = new Set<Socket>();
  app.server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    // Asked once, it is known to the access log also when the connection is gone.
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
    // Also those that speak another protocol by now.
    const grace = setTimeout(() => {
      for (const socket of sockets) socket.destroy();
    }, limits.graceMs);
    // Fastify closes the connections that are idle now, and not those that become idle later.
    const idle = setInterval(() => app.server.closeIdleConnections(), idleCheckMs);
    await app.close();
    clearInterval(idle);
    clearTimeout(grace);
  }
}

const idleCheckMs = 50;
