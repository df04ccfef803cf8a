/**
 * An iterator that can be ended while it waits for its next value, which a generator alone cannot: `return` aborts the signal that the
 * generator was started with.
 */
export function stoppable<T>(start: (signal: AbortSignal) => AsyncGenerator<T>): AsyncIterableIterator<T> {
  const stopping = new AbortController();
  const values = start(stopping.signal);
  return {
    next: () => values.next(),
    return() {
      stopping.abort();
      return values.return(undefined);
    },
    throw(error: unknown) {
      stopping.abort();
      return values.throw(error);
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
