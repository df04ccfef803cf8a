import { timingSafeEqual } from 'node:crypto';
import { isIPv6 } from 'node:net';
import type { FastifyRequest } from 'fastify';
import { refuse } from '../config.ts';
import { AppError } from '../errors.ts';
import type { ServiceContext } from '../service.ts';

/** A hook that refuses calls without `Authorization: Bearer <token>`; the time it takes tells nothing of the token. */
export function requireToken(token: string): (request: FastifyRequest) => Promise<void> {
  const expected = Buffer.from(`Bearer ${token}`);
  return async ({ headers }) => {
    const given = Buffer.from(headers.authorization ?? '');
    const same = given.length === expected.length && timingSafeEqual(given, expected);
    if (!same) throw new AppError('unauthenticated', 'the RPC token is missing or wrong');
  };
}

/**
 * Refuses, in production, to serve on or to call an address that other machines reach without a token:
 * throws `invalid_input` that names the setting of the token.
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
  refuse({ [tokenSetting]: `is required in production with ${address}, which is not this machine alone` });
}

/** Whether an address, as `host`, `host:port` or URL, can only be reached from this machine. */
function isLoopback(address: string): boolean {
  const url = URL.parse(
    address.includes('://') ? address : `http://${isIPv6(address) ? `[${address}]` : address}`,
  );
  const host = url?.hostname ?? '';
  return host === 'localhost' || host === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(host);
}
