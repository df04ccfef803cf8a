import { Chains } from './chains.ts';
import { gramLength } from './grams.ts';

/** Longer words and phrases are not worth a list of their own. */
const unitLengthMax = 48;
const hashBase = 0x01000193;
const initialSlots = 1 << 14;

/** Whether a UTF-16 unit parts words. Which ones do is a matter of speed only: the lists just have to be true. */
export function isSeparator(unit: number): boolean {
  if (unit < 0x30) return true;
  if (unit < 0x7b) return unit > 0x39 && unit < 0x61 && unit !== 0x5f;
  if (unit < 0xc0) return true;
  return (
    (unit >= 0x2000 && unit < 0x2070) ||
    (unit >= 0x3000 && unit < 0x3040) ||
    (unit >= 0xff00 && unit < 0xff10)
  );
}

/** Whether a text has a unit that parts words. */
export function hasSeparator(text: string): boolean {
  for (let index = 0; index < text.length; index++) if (isSeparator(text.charCodeAt(index))) return true;
  return false;
}

/** Which documents hold which word, and which two or three words in a row, with what is between them. */
export class UnitTables {
  readonly words = new PartTable();
  readonly phrases = new PartTable();
  #hashes = new Uint32Array(1_024);
  readonly #powers = Uint32Array.from(powers(unitLengthMax + 1));

  /** `divider` is a character that no phrase may reach across. Documents come in ascending order. */
  add(place: number, text: string, divider: string): void {
    this.#hash(text);
    let [first, second] = [-1, -1];
    for (let start = 0; start < text.length; ) {
      if (isSeparator(text.charCodeAt(start))) {
        if (text[start] === divider) [first, second] = [-1, -1];
        start++;
        continue;
      }
      let end = start + 1;
      while (end < text.length && !isSeparator(text.charCodeAt(end))) end++;
      // A term of up to four units is found by its run alone.
      if (end - start > gramLength) this.#note(this.words, place, { text, start, end });
      if (second >= 0) this.#note(this.phrases, place, { text, start: second, end });
      if (first >= 0) this.#note(this.phrases, place, { text, start: first, end });
      [first, second] = [second, start];
      start = end;
    }
  }

  #note(table: PartTable, place: number, part: Part): void {
    const { start, end } = part;
    if (end - start > unitLengthMax) return;
    const before = Math.imul(this.#hashes[start] as number, this.#powers[end - start] as number);
    table.note(place, part, ((this.#hashes[end] as number) - before) >>> 0);
  }

  /** The hash of each beginning of the text; that of any part follows from two of them. */
  #hash(text: string): void {
    if (this.#hashes.length <= text.length) this.#hashes = new Uint32Array(text.length * 2);
    let hash = 0;
    for (let index = 0; index < text.length; index++) {
      this.#hashes[index] = hash;
      hash = (Math.imul(hash, hashBase) + text.charCodeAt(index) + 1) >>> 0;
    }
    this.#hashes[text.length] = hash;
  }
}

interface Part {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/** Which documents hold which part of a text. Most parts occur once, so each is kept as where it was met first. */
class PartTable {
  readonly #texts: string[] = [];
  readonly #starts: number[] = [];
  readonly #lengths: number[] = [];
  readonly #hashes: number[] = [];
  readonly #counts: number[] = [];
  readonly #last: number[] = [];
  readonly #chains = new Chains();
  /** The number of a part and one, by hash; 0 is free. */
  #slots = new Uint32Array(initialSlots);

  note(place: number, part: Part, hash: number): void {
    const slot = this.#slotOf(part, hash);
    const number = this.#slots[slot] === 0 ? this.#add(part, hash, slot) : (this.#slots[slot] as number) - 1;
    const last = this.#last[number] as number;
    const entry = this.#chains.append(last, place);
    if (entry === last) return;
    this.#last[number] = entry;
    this.#counts[number] = (this.#counts[number] as number) + 1;
  }

  /** Each part that at least `min` documents hold, by ascending parts. The list is overwritten by the next step. */
  *entries(min: number): Generator<{ key: string; places: Uint16Array }> {
    const numbers = new Map<string, number>();
    for (const [number, count] of this.#counts.entries()) {
      if (count >= min) numbers.set(this.#partAt(number), number);
    }
    const buffer = new Uint16Array(65_536);
    for (const key of [...numbers.keys()].sort()) {
      const last = this.#last[numbers.get(key) as number] as number;
      yield { key, places: this.#chains.read(last, buffer) };
    }
  }

  #add({ text, start, end }: Part, hash: number, slot: number): number {
    const number = this.#texts.push(text) - 1;
    this.#starts.push(start);
    this.#lengths.push(end - start);
    this.#hashes.push(hash);
    this.#counts.push(0);
    this.#last.push(0);
    this.#slots[slot] = number + 1;
    if (this.#texts.length * 2 > this.#slots.length) this.#grow();
    return number;
  }

  #slotOf(part: Part, hash: number): number {
    const mask = this.#slots.length - 1;
    let slot = (hash ^ (hash >>> 15)) & mask;
    for (let number = this.#slots[slot] as number; number !== 0; number = this.#slots[slot] as number) {
      if (this.#hashes[number - 1] === hash && this.#isAt(number - 1, part)) break;
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  #isAt(number: number, { text, start, end }: Part): boolean {
    if (this.#lengths[number] !== end - start) return false;
    const known = this.#texts[number] as string;
    const knownStart = this.#starts[number] as number;
    for (let index = 0; index < end - start; index++) {
      if (known.charCodeAt(knownStart + index) !== text.charCodeAt(start + index)) return false;
    }
    return true;
  }

  #partAt(number: number): string {
    const start = this.#starts[number] as number;
    return (this.#texts[number] as string).slice(start, start + (this.#lengths[number] as number));
  }

  #grow(): void {
    const mask = this.#slots.length * 2 - 1;
    this.#slots = new Uint32Array(mask + 1);
    for (const [number, hash] of this.#hashes.entries()) {
      let slot = (hash ^ (hash >>> 15)) & mask;
      while (this.#slots[slot] !== 0) slot = (slot + 1) & mask;
      this.#slots[slot] = number + 1;
    }
  }
}

function* powers(count: number): Generator<number> {
  let power = 1;
  for (let index = 0; index < count; index++) {
    yield power >>> 0;
    power = Math.imul(power, hashBase);
  }
}
