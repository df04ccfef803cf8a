import { readFileSync } from 'node:fs';

/**
 * Processor time in seconds, user and system, of all programs that have ended, with all that these started; undefined where there
 * is no `/proc` (proc(5), fields `cutime` and `cstime` of `stat`, in hundredths of a second).
 */
export function cpuSecondsOfChildren(): number | undefined {
  try {
    const stat = readFileSync('/proc/self/stat', 'utf8');
    // The name of the program before it may have spaces.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[13]) + Number(fields[14])) / 100;
  } catch {
    return undefined;
  }
}

/** Processor milliseconds that the work of `Yardstick` takes on the machine that the budget of `npm test` was set on. */
const referenceMs = 4.7;

/**
 * Measures how much longer a fixed piece of work takes than on the machine that the budget was set on, while the tests run: two threads of
 * one core, or a busy host, stretch every second. 1 is as fast, 2 is half as fast.
 */
export class Yardstick implements Disposable {
  readonly #samples: number[] = [];
  readonly #timer = setInterval(() => this.#measure(), 1_000);

  /** By the mean, not the median: processor seconds are a sum, in which a few very slow ones count, too. */
  slowness(): number {
    if (this.#samples.length === 0) return 1;
    const totalMs = this.#samples.reduce((total, ms) => total + ms, 0);
    return totalMs / this.#samples.length / referenceMs;
  }

  #measure(): void {
    const before = process.cpuUsage();
    let text = '';
    for (let round = 0; round < 40; round++) {
      const rows = Array.from({ length: 400 }, (_, index) => ({
        id: (index * 7_919) % 400,
        name: `row ${index}`,
      }));
      text = JSON.stringify(rows.sort((one, other) => one.id - other.id));
      JSON.parse(text);
    }
    const { user, system } = process.cpuUsage(before);
    this.#samples.push((user + system) / 1_000);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}
