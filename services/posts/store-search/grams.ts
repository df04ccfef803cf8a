import { Chains } from './chains.ts';

/** How many UTF-16 units a run has. Shorter ones leave too many candidates, longer ones take too much space. */
export const gramLength = 4;

const initialSlots = 1 << 15;

/** Which documents hold which run of four UTF-16 units. Documents come in ascending order. */
export class GramTable {
  /** A run in two halves. */
  #first = new Uint32Array(initialSlots);
  #second = new Uint32Array(initialSlots);
  /** The last entry of a slot's list, 0 for a free slot. */
  #last = new Uint32Array(initialSlots);
  #used = 0;
  readonly #chains = new Chains();

  add(place: number, text: string): void {
    if (text.length < gramLength) return;
    let [a, b, c] = [text.charCodeAt(0), text.charCodeAt(1), text.charCodeAt(2)];
    for (let index = 3; index < text.length; index++) {
      const d = text.charCodeAt(index);
      this.#note(((a << 16) | b) >>> 0, ((c << 16) | d) >>> 0, place);
      a = b;
      b = c;
      c = d;
    }
  }

  /** Each run with its documents, by ascending runs. The list is overwritten by the next step. */
  *entries(): Generator<{ key: string; places: Uint16Array }> {
    const buffer = new Uint16Array(65_536);
    for (const slot of this.#slotsInOrder()) {
      yield { key: this.#runAt(slot), places: this.#chains.read(this.#last[slot] as number, buffer) };
    }
  }

  #slotsInOrder(): Uint32Array {
    const [first, second] = [this.#first, this.#second];
    const slots = new Uint32Array(this.#used);
    let length = 0;
    for (let slot = 0; slot < this.#last.length; slot++) if (this.#last[slot] !== 0) slots[length++] = slot;
    return slots.sort((a, b) => {
      return (first[a] as number) - (first[b] as number) || (second[a] as number) - (second[b] as number);
    });
  }

  #note(first: number, second: number, place: number): void {
    const slot = this.#slotOf(first, second);
    const last = this.#last[slot] as number;
    this.#last[slot] = this.#chains.append(last, place);
    if (last !== 0) return;
    this.#first[slot] = first;
    this.#second[slot] = second;
    if (++this.#used * 2 > this.#last.length) this.#grow();
  }

  #slotOf(first: number, second: number): number {
    const mask = this.#last.length - 1;
    let slot = (Math.imul(first, 0x9e3779b1) ^ Math.imul(second, 0x85ebca77)) >>> 0;
    slot = (slot ^ (slot >>> 15)) & mask;
    while (this.#last[slot] !== 0 && (this.#first[slot] !== first || this.#second[slot] !== second)) {
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  #runAt(slot: number): string {
    const [first, second] = [this.#first[slot] as number, this.#second[slot] as number];
    return String.fromCharCode(first >>> 16, first & 0xffff, second >>> 16, second & 0xffff);
  }

  #grow(): void {
    const [first, second, last] = [this.#first, this.#second, this.#last];
    this.#first = new Uint32Array(last.length * 2);
    this.#second = new Uint32Array(last.length * 2);
    this.#last = new Uint32Array(last.length * 2);
    for (let old = 0; old < last.length; old++) {
      if (last[old] === 0) continue;
      const slot = this.#slotOf(first[old] as number, second[old] as number);
      this.#first[slot] = first[old] as number;
      this.#second[slot] = second[old] as number;
      this.#last[slot] = last[old] as number;
    }
  }
}
