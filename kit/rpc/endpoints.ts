import { AppError } from '../errors.ts';
import type { Log } from '../log.ts';
import { type Address, parseAddress, targetsOf } from './address.ts';
import { Endpoint, type Target } from './endpoint.ts';

/**
 * The servers behind an address: `host:port` or `http://host:port`, or several separated by commas. A name with several
 * records stands for them all, and is looked up again every 5 s and when a server fails.
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
    if (!this.#hasNames) this.#use();
  }

  get size(): number {
    return this.#endpoints.length;
  }

  /**
   * Whose turn it is: servers that failed a moment ago are passed over while there are others, and the one that has just failed
   * this call also where there is none but such. `undefined` while names are to be looked up first. Throws `unavailable` once
   * closed.
   */
  pick(failed?: Endpoint): Endpoint | undefined {
    if (this.#isClosed) throw new AppError('unavailable', 'the RPC client is closed');
    const nowMs = performance.now();
    if (this.#hasNames && nowMs - this.#lookedUpMs > lookupEveryMs) this.#lookUpQuietly();
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

  /** Whether another server is better tried than waiting for one that failed. */
  hasOther(failed: Endpoint): boolean {
    const nowMs = performance.now();
    return this.#endpoints.some((each) => each !== failed && !each.isSkipped(nowMs));
  }

  all(): readonly Endpoint[] {
    return this.#endpoints;
  }

  /** Looks names up; throws `unavailable` where that gives no address and none was known before. */
  lookUp(): Promise<void> {
    this.#lookup ??= this.#lookUp().finally(() => {
      this.#lookup = undefined;
    });
    return this.#lookup;
  }

  /** Looks names up again because a server failed. */
  suspect(): void {
    if (this.#hasNames && performance.now() - this.#lookedUpMs > lookupAfterFailureMs) this.#lookUpQuietly();
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
      // While a name cannot be looked up, what it last stood for is the best guess.
      if (targets && targets.length > 0) this.#targets.set(address, targets);
    }
    if (!this.#isClosed) this.#use();
    if (this.#endpoints.length > 0) return;
    const hosts = this.#addresses.map((each) => each.host).join(', ');
    const cause = new Error(`no address is known for ${hosts}`);
    throw new AppError('unavailable', 'the RPC server cannot be reached', { retryAfterSeconds: 1, cause });
  }

  #lookUpQuietly(): void {
    this.lookUp().catch((error: unknown) => this.#log.warn({ err: error }, 'RPC address lookup failed'));
  }

  #use(): void {
    const known = new Map(this.#endpoints.map((each) => [keyOf(each.target), each]));
    const wanted = new Map([...this.#targets.values()].flat().map((target) => [keyOf(target), target]));
    this.#endpoints = [...wanted].map(([key, target]) => known.get(key) ?? new Endpoint(target, this.#log));
    for (const [key, endpoint] of known) if (!wanted.has(key)) void endpoint.close();
  }
}

const lookupEveryMs = 5_000;
const lookupAfterFailureMs = 250;

function keyOf({ ip, port, host }: Target): string {
  return `${ip} ${port} ${host}`;
}
