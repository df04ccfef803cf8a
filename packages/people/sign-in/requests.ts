import type { Clock } from '@octavo/core';
import { boundedFetch } from '@octavo/core';

const responseBytesMax = 1024 * 1024;
/** Time without requests after a failure. */
const rememberedMs = 5_000;

/**
 * Requests to a provider, for libraries. One that gets no response is remembered for 5 s, in which all others fail at once: no client can
 * hold many connections of ours open by asking again.
 */
export class ProviderRequests {
  readonly #clock: Clock;
  readonly #bounded = boundedFetch(responseBytesMax);
  #failure: { readonly error: unknown; readonly atMs: number } | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  readonly fetch: typeof fetch = async (input, init) => {
    const failure = this.#failure;
    if (failure && this.#clock.now() - failure.atMs < rememberedMs) throw failure.error;
    try {
      return await this.#bounded(input, init);
    } catch (error) {
      this.failed(error);
      throw error;
    }
  };

  failed(error: unknown): void {
    this.#failure = { error, atMs: this.#clock.now() };
  }
}
