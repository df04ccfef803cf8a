import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { runEvery } from '@octavo/core/concurrency';
import type { FastifyApp } from './access.ts';
import type { Limits } from './options.ts';
import type { ActiveRequests } from './requests/active-requests.ts';

/**
 * Returns the function that stops a server. It accepts no new connections and closes idle ones. Requests in flight end or are cut
 * after the grace time, and handlers whose clients have left are awaited as long, because they still use what is closed next. During
 * that time each response closes its connection, so that clients go elsewhere before a connection closes while they use it.
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
    const { promise: graceIsOver, resolve: endGrace } = Promise.withResolvers<void>();
    const grace = setTimeout(() => {
      // Also connections that have switched to another protocol.
      for (const socket of sockets) socket.destroy();
      endGrace();
    }, limits.graceMs);
    // Fastify closes the connections that are idle now, but not those that become idle later.
    const closing = runEvery(idleCheckMs, () => app.server.closeIdleConnections());
    await app.close();
    closing[Symbol.dispose]();
    await Promise.race([active.orphansEnd(), graceIsOver]);
    clearTimeout(grace);
  }
}

const idleCheckMs = 50;
