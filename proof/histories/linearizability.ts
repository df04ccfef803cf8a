import type { Operation } from './history.ts';

/** Sequential behavior of an object. */
export interface Model<State, Input, Output> {
  readonly initial: State;
  /**
   * States that an operation may leave behind. Empty if it cannot have this output in this state. An operation of unknown outcome, whose output
   * is undefined, may have had any output that changes the state.
   */
  next(state: State, operation: Operation<Input, Output>): readonly State[];
  /** Equal for equal states, and only for these. */
  fingerprint(state: State): string;
}

export type Verdict =
  | { readonly isLinearizable: true }
  | {
      readonly isLinearizable: false;
      /** The longest sequence that fits, and the operations none of which can follow it. */
      readonly explanation: string;
    };

/** Steps after which a history counts as too hard to check. */
const stepsMax = 3_000_000;

/**
 * Searches for an order of the operations in which each takes effect between its call and its return and gives the output that the
 * model gives. This is the search of Wing and Gong ("Testing and verifying concurrent objects", 1993) with the memory of visited
 * configurations that Lowe added ("Testing for linearizability", 2017). Objects that do not affect one another are to be checked one by
 * one, which is Horn and Kroening's P-compositionality ("Faster linearizability checking via P-compositionality", 2015).
 * Operations of unknown outcome may be placed anywhere after their call, or left out. Of those that are equal, the first goes first.
 */
export function checkLinearizability<State, Input, Output>(
  history: readonly Operation<Input, Output>[],
  model: Model<State, Input, Output>,
): Verdict {
  return new Search(history, model).run();
}

/** A call or a return, in a list from which placed operations are taken out. */
interface Entry {
  readonly operation: number;
  readonly isReturn: boolean;
  /** The return of a call. */
  readonly end: Entry | undefined;
  previous: Entry | undefined;
  next: Entry | undefined;
}

/** An operation that was placed, and the way back. */
interface Placed<State> {
  readonly entry: Entry;
  readonly before: State;
  readonly options: readonly State[];
  readonly chosen: number;
}

class Search<State, Input, Output> {
  readonly #history: readonly Operation<Input, Output>[];
  readonly #model: Model<State, Input, Output>;
  readonly #head: Entry = {
    operation: -1,
    isReturn: false,
    end: undefined,
    previous: undefined,
    next: undefined,
  };
  readonly #visited = new Set<string>();
  readonly #stack: Placed<State>[] = [];
  /** Previous operation with equal input, of each operation of unknown outcome. */
  readonly #twinBefore = new Map<number, number>();
  #state: State;
  /** A bit for each operation that is placed. */
  #placed = 0n;
  #unplacedKnown: number;
  #steps = 0;
  #best: { sequence: readonly Placed<State>[]; placed: bigint };

  constructor(history: readonly Operation<Input, Output>[], model: Model<State, Input, Output>) {
    this.#history = history.toSorted((one, other) => one.invokedAt - other.invokedAt);
    this.#model = model;
    this.#state = model.initial;
    this.#unplacedKnown = history.filter(isKnown).length;
    this.#best = { sequence: [], placed: 0n };
    this.#findTwins();
    this.#link();
  }

  run(): Verdict {
    let entry = this.#head.next;
    while (this.#unplacedKnown > 0) {
      if (entry && !entry.isReturn) {
        entry = this.#place(entry) ? this.#head.next : entry.next;
        continue;
      }
      // An operation has returned that could not be placed before.
      const last = this.#stack.pop();
      if (!last) return { isLinearizable: false, explanation: this.#explain() };
      this.#takeBack(last);
      entry = this.#place(last.entry, last.options, last.chosen + 1) ? this.#head.next : last.entry.next;
    }
    return { isLinearizable: true };
  }

  #findTwins(): void {
    const last = new Map<string, number>();
    for (const [index, operation] of this.#history.entries()) {
      if (isKnown(operation)) continue;
      const input = JSON.stringify(operation.input);
      const before = last.get(input);
      if (before !== undefined) this.#twinBefore.set(index, before);
      last.set(input, index);
    }
  }

  #link(): void {
    const times: { entry: Entry; at: number }[] = [];
    for (const [operation, { invokedAt, returnedAt, output }] of this.#history.entries()) {
      const links = { previous: undefined, next: undefined };
      const end = output === undefined ? undefined : { operation, isReturn: true, end: undefined, ...links };
      times.push({ entry: { operation, isReturn: false, end, ...links }, at: invokedAt });
      if (end) times.push({ entry: end, at: returnedAt });
    }
    // At the same time, calls come before returns: such operations overlap.
    times.sort(
      (one, other) => one.at - other.at || Number(one.entry.isReturn) - Number(other.entry.isReturn),
    );
    let last = this.#head;
    for (const { entry } of times) {
      entry.previous = last;
      last.next = entry;
      last = entry;
    }
  }

  /** Tries the operation next. False if no state follows that was not visited with these operations. */
  #place(entry: Entry, given?: readonly State[], from = 0): boolean {
    const { operation } = entry;
    const twin = this.#twinBefore.get(operation);
    if (twin !== undefined && (this.#placed & (1n << BigInt(twin))) === 0n) return false;
    const called = this.#history[operation] as Operation<Input, Output>;
    const options = given ?? this.#model.next(this.#state, called);
    const placed = this.#placed | (1n << BigInt(operation));
    for (let chosen = from; chosen < options.length; chosen++) {
      if (++this.#steps > stepsMax) throw new Error(`undecided after ${stepsMax} steps`);
      const state = options[chosen] as State;
      const configuration = `${placed.toString(36)} ${this.#model.fingerprint(state)}`;
      if (this.#visited.has(configuration)) continue;
      this.#visited.add(configuration);
      this.#stack.push({ entry, before: this.#state, options, chosen });
      this.#state = state;
      this.#placed = placed;
      if (isKnown(called)) this.#unplacedKnown--;
      takeOut(entry);
      if (entry.end) takeOut(entry.end);
      if (this.#stack.length > this.#best.sequence.length)
        this.#best = { sequence: [...this.#stack], placed };
      return true;
    }
    return false;
  }

  #takeBack({ entry, before }: Placed<State>): void {
    this.#state = before;
    this.#placed &= ~(1n << BigInt(entry.operation));
    if (isKnown(this.#history[entry.operation] as Operation<Input, Output>)) this.#unplacedKnown++;
    if (entry.end) putBack(entry.end);
    putBack(entry);
  }

  #explain(): string {
    const { sequence, placed } = this.#best;
    const shown = 12;
    const line = (index: number) => this.#describe(this.#history[index] as Operation<Input, Output>);
    const before = sequence.slice(-shown).map(({ entry }) => line(entry.operation));
    const rest = this.#history.keys().filter((index) => (placed & (1n << BigInt(index))) === 0n);
    const last = sequence.at(-1);
    const state = last ? (last.options[last.chosen] as State) : this.#model.initial;
    return [
      `${sequence.length} of ${this.#history.length} operations fit, the last of them`,
      ...before,
      `which leaves ${this.#model.fingerprint(state)}; then none of`,
      ...rest.take(shown).map(line),
    ].join('\n');
  }

  #describe({ input, output, invokedAt, returnedAt }: Operation<Input, Output>): string {
    const times = `${invokedAt.toFixed(1)} to ${returnedAt.toFixed(1)} ms`;
    return `  ${JSON.stringify(input)} gave ${output === undefined ? 'an unknown outcome' : JSON.stringify(output)} (${times})`;
  }
}

function isKnown({ output }: Operation): boolean {
  return output !== undefined;
}

function takeOut({ previous, next }: Entry): void {
  if (previous) previous.next = next;
  if (next) next.previous = previous;
}

/** Entries are put back in the reverse order in which they were taken out, so that their neighbors are there. */
function putBack(entry: Entry): void {
  if (entry.previous) entry.previous.next = entry;
  if (entry.next) entry.next.previous = entry;
}
