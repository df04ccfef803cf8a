/** An operation of one client on one object, as the client saw it. */
export interface Operation<Input = unknown, Output = unknown> {
  readonly input: Input;
  /** Undefined if the client never learned it: the operation may take effect at any time after its call, or never. */
  readonly output: Output | undefined;
  /** Milliseconds of a clock that only moves forward. */
  readonly invokedAt: number;
  /** Infinity if the output is unknown. */
  readonly returnedAt: number;
}

/** Outcome of a request: its output, or that it surely had no effect, or unknown. */
export type Outcome<Output> = { readonly ok: Output } | 'failed' | 'unknown';

/** Records the operations on one object. */
export class History<Input, Output> {
  readonly operations: Operation<Input, Output>[] = [];

  /** Runs operations that change nothing, as {@link record}: one of unknown outcome says nothing, and is left out. */
  look(input: Input, run: () => Promise<Outcome<Output>>): Promise<Output | undefined> {
    return this.record(input, async () => {
      const outcome = await run();
      return outcome === 'unknown' ? 'failed' : outcome;
    });
  }

  /** Carries an operation out and records it, unless it had no effect. Returns its output. */
  async record(input: Input, run: () => Promise<Outcome<Output>>): Promise<Output | undefined> {
    const invokedAt = performance.now();
    const outcome = await run();
    const returnedAt = performance.now();
    if (outcome === 'failed') return undefined;
    if (outcome === 'unknown') {
      this.operations.push({ input, output: undefined, invokedAt, returnedAt: Number.POSITIVE_INFINITY });
      return undefined;
    }
    this.operations.push({ input, output: outcome.ok, invokedAt, returnedAt });
    return outcome.ok;
  }
}
