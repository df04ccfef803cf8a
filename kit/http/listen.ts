import type { Server } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { AppError } from '../errors.ts';
import type { HttpServerOptions } from './options.ts';

/** Listens at the context's host and port and returns the address. Throws `unavailable` with host and port if that fails. */
export async function listen(app: FastifyInstance, options: HttpServerOptions): Promise<string> {
  const { host, port, log } = options.context;
  if (port === undefined) throw new Error(`${options.name} needs a port to listen on`);
  try {
    await app.listen({ host, port });
  } catch (error) {
    throw inWords(error, host, port);
  }
  // Later failures, such as accepting a connection without a free file descriptor, must not end the process.
  app.server.on('error', (error) => log.error({ err: error }, 'listening failed'));
  return addressOf(app.server);
}

function inWords(error: unknown, host: string, port: number): unknown {
  const reasons: Record<string, string> = {
    EADDRINUSE: 'is in use',
    EACCES: 'needs more rights than this process has',
    EADDRNOTAVAIL: 'cannot be used: this machine does not have that address',
    ENOTFOUND: 'cannot be used: there is no such host',
  };
  const reason = reasons[(error as NodeJS.ErrnoException).code ?? ''];
  if (!reason) return error;
  return new AppError('unavailable', `port ${port} on ${host} ${reason}`, {
    reason: 'ADDRESS',
    cause: error,
  });
}

/** The address as a client on this machine can use it: a wildcard becomes the loopback address. */
function addressOf(server: Server): string {
  const address = server.address();
  if (address === null || typeof address === 'string')
    throw new Error('the server does not listen on a port');
  const loopback = { '0.0.0.0': '127.0.0.1', '::': '[::1]' }[address.address];
  const host = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return `http://${loopback ?? host}:${address.port}`;
}
