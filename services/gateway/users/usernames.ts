import type { Clock } from '@octavo/core';
import type { AuthServiceDefinition } from '@octavo/protocols/authz/v1/authz';
import type { CallOptions, Client } from '@octavo/rpc';

const lifetimeMs = 30_000;
const timeoutMs = 1_000;
const entriesMax = 10_000;
/** Most users that authz takes in one call. */
const uidsMax = 200;
const choicesMax = 100;
const usernameMax = 128;
/** Names that are part of more than 2,000 others are found by number only. */
const searchPagesMax = 10;

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
  #choices: { readonly names: readonly string[]; readonly untilMs: number } = { names: [], untilMs: 0 };

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

  /**
   * The number of the user that a person typed or picked: by name, in any case of letters, or as a number, which need not have an account.
   * Undefined if the name is unknown.
   */
  async uidOf(text: string, call: CallOptions): Promise<number | undefined> {
    if (/^\d{1,16}$/.test(text)) return Number(text);
    const wanted = text.toLowerCase();
    for (let page = 1; page <= searchPagesMax; page += 1) {
      const { accounts, total } = await this.#authz.listAccounts(
        { page, pageSize: uidsMax, search: text.slice(0, usernameMax + 1) },
        { ...call, timeoutMs },
      );
      const found = accounts.find(({ username }) => username.toLowerCase() === wanted);
      if (found || page * uidsMax >= total) return found?.uid;
    }
    return undefined;
  }

  /** Names to pick from: those of the first 100 accounts, none without an answer of authz. Others can be typed. */
  async choices(call: CallOptions): Promise<readonly string[]> {
    const leftMs = this.#choices.untilMs - this.#clock.now();
    if (leftMs > 0 && leftMs <= lifetimeMs) return this.#choices.names;
    try {
      const { accounts } = await this.#authz.listAccounts(
        { page: 1, pageSize: choicesMax, search: undefined },
        { ...call, timeoutMs },
      );
      const names = accounts.filter(({ disabled }) => !disabled).map(({ username }) => username);
      this.#choices = { names: names.sort(), untilMs: this.#clock.now() + lifetimeMs };
      return this.#choices.names;
    } catch {
      return [];
    }
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

/** A user in a sentence: `alice`, or `77` if no account has that ID. */
export function userText(uid: number, names: ReadonlyMap<number, string>): string {
  return names.get(uid) ?? String(uid);
}

/** Problem of a text that {@link Usernames.uidOf} does not find, behind the name of a field. */
export const noSuchUser = 'must be the name or the number of a user';
