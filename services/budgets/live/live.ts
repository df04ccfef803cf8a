import { runEvery } from '@octavo/core/concurrency';
import type { HttpApp } from '@octavo/web/server';
import { refuseForeignOrigin } from '@octavo/web/server';
import { heartbeatSeconds, type LiveOptions, LiveSocket } from './socket.ts';

const paths = ['/', '/ws', '/api/ws'];

/** Live notifications over WebSockets (contract of the messages: asyncapi.yaml). `/` leads people to
 * the page `home`. Disposing it stops the heartbeat. */
export function addLive(app: HttpApp, options: LiveOptions & { readonly home: string }): Disposable {
  const sockets = new Set<LiveSocket>();
  for (const url of paths) {
    app.route({
      method: 'GET',
      url,
      access: 'public',
      schema: { hide: true },
      onRequest: async (request) => {
        if (request.ws) refuseForeignOrigin(request);
      },
      handler: (_request, reply) =>
        url === '/'
          ? reply.redirect(options.home)
          : reply.code(426).header('upgrade', 'websocket').send({ error: upgradeRequired }),
      wsHandler: (socket, request) => {
        const live = new LiveSocket(socket, request, options);
        sockets.add(live);
        socket.on('close', () => sockets.delete(live));
      },
    });
  }
  return runEvery(heartbeatSeconds * 1_000, () => {
    for (const socket of sockets) socket.heartbeat();
  });
}

const upgradeRequired = {
  code: 'INVALID_INPUT',
  message: 'This address is for WebSockets.',
  fields: {},
};
