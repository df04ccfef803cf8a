const initialEntries = 1 << 16;

/** Many growing lists of ascending places in one memory, each known by its last entry; 0 is the empty list. */
export class Chains {
  #places = new Uint16Array(initialEntries);
  #previous = new Uint32Array(initialEntries);
  #used = 0;

  /** Adds a place to the list that ends in an entry, unless it is its last already; gives the list's last entry. */
  append(last: number, place: number): number {
    if (last !== 0 && this.#places[last] === place) return last;
    if (this.#used + 1 === this.#places.length) this.#grow();
    const entry = ++this.#used;
    this.#places[entry] = place;
    this.#previous[entry] = last;
    return entry;
  }

  /** The places of a list, written to the end of a buffer that has room for them. */
  read(last: number, buffer: Uint16Array): Uint16Array {
    let start = buffer.length;
    for (let entry = last; entry !== 0; entry = this.#previous[entry] as number) {
      buffer[--start] = this.#places[entry] as number;
    }
    return buffer.subarray(start);
  }

  #grow(): void {
    const places = new Uint16Array(this.#places.length * 2);
    const previous = new Uint32Array(this.#places.length * 2);
    places.set(this.#places);
    previous.set(this.#previous);
    this.#places = places;
    this.#previous = previous;
  }
}
