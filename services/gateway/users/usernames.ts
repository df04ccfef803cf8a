import type { Clock } from '#kit/clock.ts';
import type { CallOptions, Client } from '#kit/rpc/index.ts';
import type { AuthServiceDefinition } from '#proto/authz/v1/authz.ts';

const lifetimeMs = 30_000;
const timeoutMs = 1_000;
const entriesMax = 10_000;
/** As many as authz takes in one call. */
const uidsMax = 200;

interface Entry {
  /** Absent for a number that no account has: posts may belong to any. */
  readonly username: string | undefined;
  readonly untilMs: number;
}

/** The names of users by their number, which are kept for half a minute. */
export class Usernames {
  readonly #authz: Client<AuthServiceDefinition>;
  readonly #clock: Clock;
  readonly #entries = new Map<number, Entry>();

  constructor(authz: Client<AuthServiceDefinition>, clock: Clock) {
    this.#authz = authz;
    this.#clock = clock;
  }

  /** The names of those that have one, of up to 200 users. Without an answer of authz a page shows numbers only. */
  async of(uids: readonly number[], call: CallOptions): Promise<ReadonlyMap<number, string>> {
    const wanted = [...new Set(uids)].slice(0, uidsMax);
    const unknown = wanted.filter((uid) => !this.#isKnown(uid));
    if (unknown.length > 0) await this.#load(unknown, call).catch(() => {});
    const names = wanted.map((uid) => [uid, this.#entries.get(uid)?.username] as const);
    return new Map(names.filter((entry): entry is [number, string] => entry[1] !== undefined));
  }

  #isKnown(uid: number): boolean {
    const leftMs = (this.#entries.get(uid)?.untilMs ?? 0) - this.#clock.now();
    return leftMs > 0 && leftMs <= lifetimeMs;
  }

  async #load(uids: number[], call: CallOptions): Promise<void> {
    const { usernames } = await this.#authz.getUsernames({ uids }, { ...call, timeoutMs });
    if (this.#entries.size + uids.length > entriesMax) this.#entries.clear();
    const untilMs = this.#clock.now() + lifetimeMs;
    for (const uid of uids) this.#entries.set(uid, { username: usernames.get(uid), untilMs });
  }
}

/** A user in a sentence: `alice`, or `number 77` if no account has that number. */
export function userText(uid: number, names: ReadonlyMap<number, string>): string {
  return names.get(uid) ?? `number ${uid}`;
}
