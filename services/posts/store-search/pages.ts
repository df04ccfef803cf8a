import { decodePlaces, encodePlaces } from './postings.ts';

/** What the lists of a segment are kept under. */
export const kinds = {
  gram: 0,
  user: 1,
  word: 2,
  phrase: 3,
  wordTexts: 4,
  phraseTexts: 5,
  byTitle: 6,
  byUpdate: 7,
} as const;

/** Kinds of which a segment has lists by key. */
export type ListKind = 'gram' | 'user' | 'word' | 'phrase';

/** One row of a segment: the lists of some keys of one kind, in order, or bytes of another form. */
export interface Page {
  readonly kind: number;
  /** Its first key, so that bytes are in the order of keys. */
  readonly firstKey: Uint8Array;
  readonly data: Uint8Array;
}

/** The documents of one key. */
export interface Entry {
  readonly key: string;
  readonly places: Uint16Array;
}

const payloadBytes = 8_192;
const headBytes = 8;
/** No key has it. */
const keyEnd = '\0';

/** Packs lists into pages. */
export function* packPages(kind: number, span: number, entries: Iterable<Entry>): Generator<Page> {
  let keys: string[] = [];
  let lists: Uint8Array[] = [];
  let bytes = 0;
  for (const { key, places } of entries) {
    const list = encodePlaces(places, span);
    keys.push(key);
    lists.push(list);
    bytes += list.length + key.length * 2;
    if (bytes < payloadBytes) continue;
    yield packPage(kind, keys, lists);
    keys = [];
    lists = [];
    bytes = 0;
  }
  if (keys.length > 0) yield packPage(kind, keys, lists);
}

/** The number of keys and of bytes that they take, where each list ends, the keys, the lists. */
function packPage(kind: number, keys: readonly string[], lists: readonly Uint8Array[]): Page {
  const keyBytes = Buffer.from(keys.join(keyEnd), 'utf16le');
  const listsStart = headBytes + keys.length * 4 + keyBytes.length;
  const data = new Uint8Array(lists.reduce((bytes, list) => bytes + list.length, listsStart));
  const numbers = new Uint32Array(data.buffer, 0, 2 + keys.length);
  numbers[0] = keys.length;
  numbers[1] = keyBytes.length;
  data.set(keyBytes, headBytes + keys.length * 4);
  let end = listsStart;
  for (const [index, list] of lists.entries()) {
    data.set(list, end);
    end += list.length;
    numbers[2 + index] = end;
  }
  return { kind, firstKey: keyOrder(keys[0] as string), data };
}

/** A key as bytes whose order is that of strings. */
export function keyOrder(key: string): Uint8Array {
  return Buffer.from(key, 'utf16le').swap16();
}

/** The lists, still packed, of the keys from `low` to `high` in a page. */
export function* listsIn(data: Uint8Array, low: string, high: string): Generator<Uint8Array> {
  const { keyUnits, numbers, page } = openPage(data);
  if (low === high) {
    const index = indexOfKey(keyUnits, low);
    if (index !== -1) yield listAt(page, numbers, index);
    return;
  }
  const keys = keysIn(keyUnits);
  for (let index = firstAtLeast(keys, low); index < keys.length && (keys[index] as string) <= high; index++) {
    yield listAt(page, numbers, index);
  }
}

/** Every list of pages in order, its places moved by `offset`. The list is overwritten by the next step. */
export function* unpackPages(pages: Iterable<Uint8Array>, offset: number): Generator<Entry> {
  const buffer = new Uint16Array(65_536);
  for (const data of pages) {
    const { keyUnits, numbers, page } = openPage(data);
    for (const [index, key] of keysIn(keyUnits).entries()) {
      const length = decodePlaces(listAt(page, numbers, index), offset, buffer, 0);
      yield { key, places: buffer.subarray(0, length) };
    }
  }
}

function openPage(data: Uint8Array): { page: Uint8Array; numbers: Uint32Array; keyUnits: Uint16Array } {
  // Numbers need an offset in whole numbers, which bytes from elsewhere do not promise.
  const page = data.byteOffset % 4 === 0 ? data : data.slice();
  const [count = 0, keyBytes = 0] = new Uint32Array(page.buffer, page.byteOffset, 2);
  const numbers = new Uint32Array(page.buffer, page.byteOffset, 2 + count);
  const keyUnits = new Uint16Array(page.buffer, page.byteOffset + headBytes + count * 4, keyBytes >>> 1);
  return { page, numbers, keyUnits };
}

function keysIn(keyUnits: Uint16Array): string[] {
  const { buffer, byteOffset, byteLength } = keyUnits;
  return Buffer.from(buffer, byteOffset, byteLength).toString('utf16le').split(keyEnd);
}

/** Which of the keys it is, or -1; sooner than a string can be made of each. */
function indexOfKey(keyUnits: Uint16Array, key: string): number {
  let index = 0;
  for (let at = 0; at < keyUnits.length; index++) {
    const start = at;
    while (at - start < key.length && keyUnits[at] === key.charCodeAt(at - start)) at++;
    const isBegun = at - start === key.length;
    if (isBegun && (at === keyUnits.length || keyUnits[at] === 0)) return index;
    while (at < keyUnits.length && keyUnits[at] !== 0) at++;
    at++;
  }
  return -1;
}

function listAt(page: Uint8Array, numbers: Uint32Array, index: number): Uint8Array {
  const [count = 0, keyBytes = 0] = numbers;
  const start = index === 0 ? headBytes + count * 4 + keyBytes : numbers[1 + index];
  return page.subarray(start, numbers[2 + index]);
}

/** The index of the first value that is `value` or more, in ascending values. */
export function firstAtLeast<T extends string | number>(values: ArrayLike<T>, value: T): number {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((values[middle] as T) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
