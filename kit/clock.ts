/** Where time comes from, so that tests can set it. */
export interface Clock {
  /** Milliseconds since the Unix epoch, UTC. */
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };

/** A clock that stands still until it is moved, for tests. */
export class FakeClock implements Clock {
  #nowMs: number;

  constructor(nowMs: number = Date.UTC(2026, 0, 1)) {
    this.#nowMs = nowMs;
  }

  now(): number {
    return this.#nowMs;
  }

  advance(ms: number): void {
    this.#nowMs += ms;
  }

  set(nowMs: number): void {
    this.#nowMs = nowMs;
  }
}
