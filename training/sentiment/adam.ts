/** One block of parameters under Adam (Kingma and Ba 2015), whole or in rows of which only the touched ones move. */
export class Adam {
  readonly values: Float32Array;
  readonly gradient: Float32Array;
  readonly #means: Float32Array;
  readonly #squares: Float32Array;

  constructor(values: Float32Array) {
    this.values = values;
    this.gradient = new Float32Array(values.length);
    this.#means = new Float32Array(values.length);
    this.#squares = new Float32Array(values.length);
  }

  /** Moves the values from `start` to `end` against their gradient, and clears it. */
  step(rate: number, start = 0, end = this.values.length): void {
    for (let at = start; at < end; at++) {
      const slope = this.gradient[at] as number;
      const mean = 0.9 * (this.#means[at] as number) + 0.1 * slope;
      const square = 0.999 * (this.#squares[at] as number) + 0.001 * slope * slope;
      this.#means[at] = mean;
      this.#squares[at] = square;
      this.values[at] = (this.values[at] as number) - (rate * mean) / (Math.sqrt(square) + 1e-8);
      this.gradient[at] = 0;
    }
  }
}

/** Returns the factor of the step size after `steps` steps, to make up for means that began at zero. */
export function adamCorrection(steps: number): number {
  return Math.sqrt(1 - 0.999 ** steps) / (1 - 0.9 ** steps);
}
