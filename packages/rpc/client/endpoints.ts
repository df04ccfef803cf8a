import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import type { Log } from '@octavo/core';
import { AppError } from '@octavo/core';
import { Endpoint, type Target } from './endpoint.ts';

/**
 * The servers behind an address: `host:port` or `http://host:port`, or several separated by commas. A name with several
 * DNS records stands for all of them, and is looked up again every 5 s and when a server fails.
 * Throws `invalid_input` for anything else.
 */
export class Endpoints implements AsyncDisposable {
  readonly #addresses: readonly Address[];
  readonly #log: Log;
  readonly #hasNames: boolean;
  readonly #targets = new Map<Address, readonly Target[]>();
  #endpoints: readonly Endpoint[] = [];
  #turn = 0;
  #lookup: Promise<void> | undefined;
  #lookedUpMs = 0;
  #isClosed = false;

  constructor(address: string, log: Log) {
    this.#addresses = address.split(',').map(parseAddress);
    this.#log = log;
    this.#hasNames = this.#addresses.some((each) => each.isName);
    for (const each of this.#addresses) if (!each.isName) this.#targets.set(each, [each]);
    if (!this.#hasNames) this.#update();
  }

  get size(): number {
    return this.#endpoints.length;
  }

  /**
   * The next server in turn. It skips servers that failed a moment ago while there are others, and avoids the one at which
   * this call has just failed. `undefined` if names must be looked up first. Throws `unavailable` once closed.
   */
  pick(failed?: Endpoint): Endpoint | undefined {
    if (this.#isClosed) throw new AppError('unavailable', 'the RPC client is closed');
    const nowMs = performance.now();
    if (this.#hasNames && nowMs - this.#lookedUpMs > lookupEveryMs) this.#lookUpInBackground();
    const count = this.#endpoints.length;
    let chosen: Endpoint | undefined;
    for (let step = 0; step < count; step += 1) {
      this.#turn = (this.#turn + 1) % count;
      const next = this.#endpoints[this.#turn];
      if (chosen === undefined || chosen === failed) chosen = next;
      if (next?.isSkipped(nowMs)) continue;
      chosen = next;
      break;
    }
    chosen?.picked(nowMs);
    return chosen;
  }

  /** True if there is another server to try now, rather than wait for the one that failed. */
  hasOther(failed: Endpoint): boolean {
    const nowMs = performance.now();
    return this.#endpoints.some((each) => each !== failed && !each.isSkipped(nowMs));
  }

  all(): readonly Endpoint[] {
    return this.#endpoints;
  }

  /** Looks names up; throws `unavailable` if no address is known, not even from before. */
  lookUp(): Promise<void> {
    this.#lookup ??= this.#lookUp().finally(() => {
      this.#lookup = undefined;
    });
    return this.#lookup;
  }

  /** Looks names up again because a server failed. */
  suspect(): void {
    if (!this.#hasNames || performance.now() - this.#lookedUpMs <= lookupAfterFailureMs) return;
    this.#lookUpInBackground();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.#endpoints.map((each) => each.close()));
  }

  async #lookUp(): Promise<void> {
    const names = this.#addresses.filter((each) => each.isName);
    const found = await Promise.all(names.map(targetsOf));
    this.#lookedUpMs = performance.now();
    for (const [index, address] of names.entries()) {
      const targets = found[index];
      // While a name cannot be looked up, its last addresses are the best guess.
      if (targets && targets.length > 0) this.#targets.set(address, targets);
    }
    if (!this.#isClosed) this.#update();
    if (this.#endpoints.length > 0) return;
    const hosts = this.#addresses.map((each) => each.host).join(', ');
    const cause = new Error(`no address is known for ${hosts}`);
    throw new AppError('unavailable', 'the RPC server cannot be reached', { retryAfterSeconds: 1, cause });
  }

  #lookUpInBackground(): void {
    this.lookUp().catch((error: unknown) => this.#log.warn({ err: error }, 'RPC address lookup failed'));
  }

  /** Keeps the endpoints that are still wanted, adds new ones and closes the others. */
  #update(): void {
    const known = new Map(this.#endpoints.map((each) => [keyOf(each.target), each]));
    const wanted = new Map([...this.#targets.values()].flat().map((target) => [keyOf(target), target]));
    this.#endpoints = [...wanted].map(([key, target]) => known.get(key) ?? new Endpoint(target, this.#log));
    for (const [key, endpoint] of known) if (!wanted.has(key)) void endpoint.close();
  }
}

const lookupEveryMs = 5_000;
const lookupAfterFailureMs = 250;

/** One address as it was given. If it has a name, `ip` is that name. */
interface Address extends Target {
  readonly isName: boolean;
}

function parseAddress(text: string): Address {
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

/** The addresses of a name now; `undefined` if it cannot be looked up. */
async function targetsOf({ ip: name, port, host }: Address): Promise<Target[] | undefined> {
  const records = await lookup(name, { all: true }).catch(() => undefined);
  return records?.map((record) => ({ ip: record.address, port, host }));
}

function keyOf({ ip, port, host }: Target): string {
  return `${ip} ${port} ${host}`;
}
