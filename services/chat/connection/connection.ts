import { lookup } from 'node:dns/promises';
import { BlockList, isIPv6 } from 'node:net';
import { AppError, foldAddress } from '@octavo/core';

/** A server, and the model to use there. */
export interface Connection {
  /** Such as `http://127.0.0.1:11434/v1`. */
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
  /** Several in the environment, with commas between; empty for a reranker that has one model only. */
  readonly model: string;
}

/** The names of the models, of which the environment may give several with commas between. */
export function modelNames({ model }: Connection): string[] {
  return model
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

export const addressMax = 500;
export const keyMax = 1_000;
export const modelNameMax = 200;

/** Link-local addresses, where clouds give their secrets to every program inside. */
const refused = new BlockList();
refused.addSubnet('169.254.0.0', 16, 'ipv4');
refused.addSubnet('fe80::', 10, 'ipv6');
refused.addSubnet('fd00:ec2::', 32, 'ipv6');

/** The address of a server as it is kept. Throws `validation_failed`. */
export async function toAddress(given: string): Promise<string> {
  const text = given.trim();
  const url = URL.parse(/^[a-z]+:\/\//i.test(text) ? text : `http://${text}`);
  if (text === '' || !url || !/^https?:$/.test(url.protocol) || text.length > addressMax)
    throw invalid(
      `must be an address such as http://127.0.0.1:11434/v1, of at most ${addressMax} characters`,
    );
  if (url.username || url.password || url.search || url.hash)
    throw invalid('must have no user name, query or fragment: the key has its own field');
  if (await isLinkLocal(url)) throw invalid('must not be a link-local address');
  return url.href.replace(/\/+$/, '');
}

/** True if the host is link-local, or a name for such an address. */
async function isLinkLocal({ hostname }: URL): Promise<boolean> {
  const host = hostname.replace(/^\[|\]$/g, '');
  const found = await lookup(host, { all: true }).catch(() => []);
  return found.some(({ address }) => {
    const plain = foldAddress(address.replace(/%.*$/, ''));
    return refused.check(plain, isIPv6(plain) ? 'ipv6' : 'ipv4');
  });
}

function invalid(problem: string): AppError {
  return new AppError('validation_failed', `The address ${problem}.`, { fields: { address: problem } });
}
