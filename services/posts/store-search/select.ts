import { compareKeys, type Key } from './orders.ts';

/** Ids in order. */
export interface OrderedList {
  readonly length: number;
  at(index: number): number;
}

/** What is left of a list: its part that may belong to the page. */
interface Window {
  readonly list: OrderedList;
  from: number;
  to: number;
}

interface Wanted {
  /** How many ids of the windows come before the page. */
  skip: number;
  readonly limit: number;
}

/** Each key is a look into the table: few a round, in a round or two more, are fewer in all. */
const readAtOnce = 400;
const samplesMin = 160;

/**
 * The ids from `offset` on, `limit` of them, in the common order of ordered lists, reading few keys: every so many ids of
 * each list a key is read, which tells how far each list lies before or behind the page, until little is left.
 */
export async function selectIds(
  lists: readonly OrderedList[],
  { offset, limit }: { offset: number; limit: number },
  readKeys: (ids: readonly number[]) => Promise<Key[]>,
): Promise<number[]> {
  const wanted: Wanted = { skip: offset, limit };
  const windows = lists.map((list) => ({ list, from: 0, to: list.length }));
  for (;;) {
    cutByLength(windows, wanted);
    const left = countOf(windows);
    const samples = Math.max(samplesMin, 8 * windows.length);
    if (left <= Math.max(readAtOnce, samples)) {
      const keys = await readKeys(windows.flatMap((window) => idsOf(window, 1)));
      return keys
        .sort(compareKeys)
        .slice(wanted.skip, wanted.skip + limit)
        .map(({ id }) => id);
    }
    const step = Math.ceil(left / samples);
    const keys = await readKeys(windows.flatMap((window) => idsOf(window, step)));
    cutBySamples(windows, wanted, { step, samples: keys.sort(compareKeys) });
  }
}

/** An id with too many of its own list before or behind it is not on the page. */
function cutByLength(windows: readonly Window[], wanted: Wanted): void {
  const behind = countOf(windows) - wanted.skip - wanted.limit;
  let cut = 0;
  for (const window of windows) {
    const from = Math.max(window.from, window.to - Math.max(0, behind) - wanted.limit);
    cut += from - window.from;
    window.from = from;
  }
  wanted.skip -= cut;
  for (const window of windows) window.to = Math.min(window.to, window.from + wanted.skip + wanted.limit);
}

/** Each sample is the last of `step` ids of its list. */
function cutBySamples(
  windows: readonly Window[],
  wanted: Wanted,
  { step, samples }: { step: number; samples: readonly Key[] },
): void {
  const ranks = new Map(samples.map(({ id }, index) => [id, index]));
  // So many samples lie before the page even if each list has all ids up to its next sample before them.
  const before = Math.floor((wanted.skip - windows.length * (step - 1)) / step);
  // So many samples have the whole page before them or among them.
  const enough = Math.ceil((wanted.skip + wanted.limit) / step);
  for (const window of windows) {
    const { list, from, to } = window;
    for (let at = from + step - 1; at < to; at += step) {
      const rank = ranks.get(list.at(at)) as number;
      if (rank < before) {
        window.from = at + 1;
        wanted.skip -= step;
      } else if (rank >= enough) {
        window.to = at;
        break;
      }
    }
  }
}

function idsOf({ list, from, to }: Window, step: number): number[] {
  const ids: number[] = [];
  for (let at = from + step - 1; at < to; at += step) ids.push(list.at(at));
  return ids;
}

function countOf(windows: readonly Window[]): number {
  return windows.reduce((count, { from, to }) => count + to - from, 0);
}
