import { utf16 } from '@octavo/core/text';

const hourMs = 3_600_000;
/** Code points are counted in tables of this size, made as they occur; those beyond the Basic Multilingual Plane in a map. */
const tableBits = 8;
const tableSize = 1 << tableBits;
const planeSize = 0x10000;

/** Fields of a post that are counted. */
export interface CountedPost {
  readonly userId: number;
  readonly title: string;
  readonly body: string;
}

/** Sums over posts, to be added to the stored statistics. */
export class StatisticsDelta {
  posts = 0;
  characters = 0;
  readonly users = new Map<number, number>();
  readonly lengths = new Map<number, number>();
  readonly hours = new Map<number, number>();
  readonly #tables = new Array<Int32Array | undefined>(planeSize / tableSize).fill(undefined);
  readonly #others = new Map<number, number>();

  /** Adds a post except for its time, or subtracts it with `sign` -1. */
  add(post: CountedPost, sign: 1 | -1 = 1): void {
    const length = this.#addText(post.title, sign) + this.#addText(post.body, sign);
    this.posts += sign;
    this.characters += sign * length;
    increase(this.users, post.userId, sign);
    increase(this.lengths, length, sign);
  }

  /** Adds the time of creation of some posts. */
  addTime(createdAtMs: number, posts: number): void {
    increase(this.hours, Math.floor(createdAtMs / hourMs) % 24, posts);
  }

  /** Adds another delta, or subtracts it with `sign` -1. */
  addAll(other: StatisticsDelta, sign: 1 | -1): void {
    this.posts += sign * other.posts;
    this.characters += sign * other.characters;
    for (const [user, posts] of other.users) increase(this.users, user, sign * posts);
    for (const [length, posts] of other.lengths) increase(this.lengths, length, sign * posts);
    for (const [hour, posts] of other.hours) increase(this.hours, hour, sign * posts);
    for (const [codePoint, times] of other.characterCounts()) this.addCharacter(codePoint, sign * times);
  }

  /** True if adding it changes nothing. */
  get isZero(): boolean {
    const counts = [...this.users.values(), ...this.lengths.values(), ...this.hours.values()];
    const differing = counts.some((count) => count !== 0) || this.characterCounts().length > 0;
    return this.posts === 0 && this.characters === 0 && !differing;
  }

  addCharacter(codePoint: number, times: number): void {
    if (codePoint < planeSize) addTo(this.#tableOf(codePoint >>> tableBits), codePoint, times);
    else increase(this.#others, codePoint, times);
  }

  /** Returns the number of occurrences of each code point, without those that do not occur. */
  characterCounts(): [codePoint: number, times: number][] {
    const counts: [number, number][] = [];
    for (let page = 0; page < this.#tables.length; page++) {
      const table = this.#tables[page];
      if (table === undefined) continue;
      for (let at = 0; at < tableSize; at++) {
        const times = table[at] as number;
        if (times !== 0) counts.push([page * tableSize + at, times]);
      }
    }
    for (const entry of this.#others) if (entry[1] !== 0) counts.push(entry);
    return counts;
  }

  /** Gives the length of the text in code points. Most texts need one table only. */
  #addText(text: string, sign: number): number {
    let pairs = 0;
    let page = 0;
    let table = this.#tableOf(page);
    const units = utf16(text);
    for (let index = 0; index < text.length; index++) {
      const unit = units[index] as number;
      if (unit >= 0xd800 && unit < 0xdc00) {
        increase(this.#others, text.codePointAt(index) as number, sign);
        index++;
        pairs++;
        continue;
      }
      if (unit >>> tableBits !== page) {
        page = unit >>> tableBits;
        table = this.#tableOf(page);
      }
      addTo(table, unit, sign);
    }
    return text.length - pairs;
  }

  #tableOf(page: number): Int32Array {
    this.#tables[page] ??= new Int32Array(tableSize);
    return this.#tables[page] as Int32Array;
  }
}

function addTo(table: Int32Array, unit: number, by: number): void {
  table[unit % tableSize] = (table[unit % tableSize] as number) + by;
}

function increase(counts: Map<number, number>, key: number, by: number): void {
  counts.set(key, (counts.get(key) ?? 0) + by);
}
