/** A chunk and how near it is. */
export interface Match {
  readonly id: number;
  readonly score: number;
}

/** Keeps the highest scores above 0. */
export class TopK {
  readonly #limit: number;
  #items: Match[] = [];
  #least = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  add(id: number, score: number): void {
    if (score <= this.#least) return;
    this.#items.push({ id, score });
    if (this.#items.length >= this.#limit * 4 + 64) this.#cut();
  }

  sorted(): Match[] {
    this.#cut();
    return this.#items;
  }

  #cut(): void {
    this.#items.sort((one, other) => other.score - one.score || one.id - other.id);
    this.#items.length = Math.min(this.#items.length, this.#limit);
    if (this.#items.length === this.#limit) this.#least = this.#items.at(-1)?.score ?? 0;
  }
}
