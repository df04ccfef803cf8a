import type { Classification } from './classifier.ts';

/** Texts of one caller. */
export interface Batch {
  readonly texts: readonly string[];
  readonly done: Classification[];
  /** Number of texts handed out. */
  handedOut: number;
  /** Number of texts classified. */
  settled: number;
  resolve(classifications: Classification[]): void;
  reject(error: unknown): void;
}

/** Origin of a text of a slice. */
export interface Place {
  readonly batch: Batch;
  readonly index: number;
}

/** Waiting texts of many callers. Callers take turns text by text, so no caller waits for another's thousand. */
export class ClassifierQueue {
  #batches: Batch[] = [];

  add(batch: Batch): void {
    this.#batches.push(batch);
  }

  /** Removes the texts of a caller that gave up. */
  remove(batch: Batch): void {
    this.#batches = this.#batches.filter((other) => other !== batch);
  }

  /** Empties the queue and returns its items. */
  clear(): Batch[] {
    return this.#batches.splice(0);
  }

  /** The next texts, at least one if any waits, up to a number of them and of their characters. */
  next(textsMax: number, charactersMax: number): Place[] {
    const places: Place[] = [];
    let characters = 0;
    while (places.length < textsMax && characters < charactersMax) {
      const batch = this.#batches.shift();
      if (!batch) break;
      const index = batch.handedOut++;
      places.push({ batch, index });
      characters += batch.texts[index]?.length ?? 0;
      if (batch.handedOut < batch.texts.length) this.#batches.push(batch);
    }
    return places;
  }
}
