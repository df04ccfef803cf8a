import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { AppError } from '../errors.ts';
import type { Target } from './endpoint.ts';

/** One address as it was given. Of a name `ip` is the name. */
export interface Address extends Target {
  readonly isName: boolean;
}

/** Reads `host:port` or `http://host:port`; throws `invalid_input` for anything else. */
export function parseAddress(text: string): Address {
  const trimmed = text.trim();
  const url = URL.parse(trimmed.includes('://') ? trimmed : `http://${trimmed}`);
  const hasPort = /:\d+\/?$/.test(trimmed);
  if (url?.protocol !== 'http:' || !hasPort || url.pathname !== '/' || url.username || url.search) {
    throw new AppError(
      'invalid_input',
      `${text} is not an RPC address: it must be host:port or http://host:port`,
    );
  }
  const ip = url.hostname.replace(/^\[|\]$/g, '');
  return { ip, port: Number(url.port || 80), host: url.host, isName: isIP(ip) === 0 };
}

/** What a name stands for now; `undefined` where it cannot be looked up. */
export async function targetsOf({ ip: name, port, host }: Address): Promise<Target[] | undefined> {
  const records = await lookup(name, { all: true }).catch(() => undefined);
  return records?.map((record) => ({ ip: record.address, port, host }));
}
