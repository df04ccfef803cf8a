import type { Classification } from './classifier.ts';

/** Texts that one caller waits for. */
export interface Batch {
  readonly texts: readonly string[];
  readonly done: Classification[];
  /** How many of the texts were handed out. */
  handedOut: number;
  /** How many were classified. */
  settled: number;
  resolve(classifications: Classification[]): void;
  reject(error: unknown): void;
}

/** Where a text of a slice came from. */
export interface Place {
  readonly batch: Batch;
  readonly index: number;
}

/** Texts that wait, of many callers. Each in turn gives one, so that nobody waits for another's thousand. */
export class ClassifierQueue {
  #batches: Batch[] = [];

  add(batch: Batch): void {
    this.#batches.push(batch);
  }

  /** What nobody waits for any more is not classified. */
  remove(batch: Batch): void {
    this.#batches = this.#batches.filter((other) => other !== batch);
  }

  /** Gives those whose texts were not all handed out. */
  clear(): Batch[] {
    return this.#batches.splice(0);
  }

  /** The next texts, at least one where there is any, up to some of them and up to some characters in all. */
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
