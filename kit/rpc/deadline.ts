/** The longest that a timer of Node waits; with more it would end at once. */
export const timerMsMax = 2 ** 31 - 1;

/** The deadlines of this turn of the event loop. Most calls in one process end before it does, so that only what is left gets a timer. */
let fresh: Deadline[] = [];

function armFresh(): void {
  const left = fresh;
  fresh = [];
  for (const deadline of left) deadline.arm();
}

/** Calls `onPassed` once `timeoutMs` have gone by, unless it is called off before. */
export class Deadline {
  readonly #startedMs = performance.now();
  readonly #timeoutMs: number;
  readonly #onPassed: () => void;
  #timer: NodeJS.Timeout | undefined;
  #isOff = false;

  constructor(timeoutMs: number, onPassed: () => void) {
    this.#timeoutMs = timeoutMs;
    this.#onPassed = onPassed;
    fresh.push(this);
    if (fresh.length === 1) setImmediate(armFresh);
  }

  arm(): void {
    if (this.#isOff) return;
    const leftMs = this.#timeoutMs - (performance.now() - this.#startedMs);
    this.#timer = setTimeout(this.#onPassed, Math.min(Math.max(0, leftMs), timerMsMax));
  }

  callOff(): void {
    this.#isOff = true;
    if (this.#timer) clearTimeout(this.#timer);
  }
}
