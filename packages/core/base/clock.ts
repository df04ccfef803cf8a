/** The source of time, so that tests can set it. */
export interface Clock {
  /** Milliseconds since the Unix epoch, UTC. */
  now(): number;
}

/** The system's time. */
export const systemClock: Clock = { now: () => Date.now() };

/** A clock that stands still until a test moves it. */
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
