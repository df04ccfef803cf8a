import { timingSafeEqual } from 'node:crypto';
import { isIPv6 } from 'node:net';
import { AppError, refuse, text } from '@octavo/core';
import type { ServiceContext } from '@octavo/data/service';
import type { FastifyRequest } from 'fastify';

/** Settings of every service that serves or calls RPC. */
export const rpcSettings = {
  RPC_TOKEN: text({
    secret: true,
    help: 'Shared secret between the services; required in production off loopback',
  }),
};

/**
 * An `onRequest` hook that throws `unauthenticated` unless the request has `Authorization: Bearer <token>`. It compares
 * in constant time.
 */
export function requireToken(token: string): (request: FastifyRequest) => Promise<void> {
  const expected = Buffer.from(`Bearer ${token}`);
  return async ({ headers }) => {
    const given = Buffer.from(headers.authorization ?? '');
    const same = given.length === expected.length && timingSafeEqual(given, expected);
    if (!same) throw new AppError('unauthenticated', 'the RPC token is missing or wrong');
  };
}

/**
 * In production, refuses to serve on or to call an address that other machines can reach unless there is a token: throws
 * `invalid_input` that names the token's setting.
 */
export function requireTokenOffLoopback(options: {
  readonly tokenSetting: string;
  /** One address or several, separated by commas. */
  readonly address: string;
  readonly token: string | undefined;
  readonly environment: ServiceContext['environment'];
}): void {
  const { tokenSetting, address, token, environment } = options;
  if (token || environment !== 'production' || address.split(',').every((each) => isLoopback(each.trim())))
    return;
  refuse({ [tokenSetting]: `is required in production with ${address}, which other machines can reach` });
}

/** A check of a service that serves RPC on its own address: see {@link requireTokenOffLoopback}. */
export function checkRpcToken(
  { RPC_TOKEN: token }: { readonly RPC_TOKEN: string | undefined },
  { environment, host: address, port }: Pick<ServiceContext, 'environment' | 'host' | 'port'>,
): void {
  if (port !== undefined) requireTokenOffLoopback({ tokenSetting: 'RPC_TOKEN', address, token, environment });
}

/** Returns true if an address, as `host`, `host:port` or URL, can only be reached from this machine. */
function isLoopback(address: string): boolean {
  const url = URL.parse(
    address.includes('://') ? address : `http://${isIPv6(address) ? `[${address}]` : address}`,
  );
  const host = url?.hostname ?? '';
  return host === 'localhost' || host === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(host);
}
