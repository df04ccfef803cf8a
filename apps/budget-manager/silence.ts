import { Failure } from './failure.ts';

/** Ends an idle exchange. Time in which the reader asks for no more does not count. */
export class Silence {
  readonly #limitMs: number;
  readonly #controller = new AbortController();
  #timer: NodeJS.Timeout | undefined;

  constructor(limitMs: number) {
    this.#limitMs = limitMs;
    this.#listen();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Stops counting. */
  pause(): void {
    clearTimeout(this.#timer);
  }

  /** Pieces that are sent: each piece taken ends a silence. */
  async *after(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const piece of pieces) {
      this.#listen();
      yield piece;
    }
    this.#listen();
  }

  /** Pieces that are received. Throws a {@link Failure} if a piece takes too long. */
  async *within(pieces: AsyncIterable<Uint8Array> | readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
    try {
      this.#listen();
      for await (const piece of pieces) {
        this.pause();
        yield piece;
        this.#listen();
      }
    } catch (error) {
      if (!this.signal.aborted) throw error;
      throw new Failure('unreachable', `The response broke off: ${this.reasonOf(error as Error)}.`);
    } finally {
      this.pause();
    }
  }

  /** Returns the reason of a failed exchange, in words. */
  reasonOf(error: Error): string {
    if (this.signal.aborted) return `nothing came for ${this.#limitMs / 1_000} s`;
    const cause = error.cause as (Error & { code?: string; errors?: Error[] }) | undefined;
    return cause?.errors?.[0]?.message || cause?.message || cause?.code || error.message;
  }

  #listen(): void {
    this.pause();
    this.#timer = setTimeout(() => this.#controller.abort(), this.#limitMs);
  }
}
