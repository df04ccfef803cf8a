import { divider } from '../fold.ts';
import { type Bitmap, hasBit } from './bitmap.ts';
import { GramTable, gramLength } from './grams.ts';
import { type Entry, keyOrder, kinds, type ListKind, type Page, packPages, unpackPages } from './pages.ts';
import { UnitTables } from './units.ts';

/** What the texts of words and phrases are kept under. */
export const textKinds = { word: kinds.wordTexts, phrase: kinds.phraseTexts } as const;

/** A post as it is indexed. */
export interface Document {
  /** Its place in the segment. */
  readonly place: number;
  readonly userId: number;
  /** Folded title, divider, folded body. */
  readonly text: string;
}

/** The lists of a range of documents, by ascending key. Each list is overwritten by the next of its kind. */
export type ListSource = (kind: ListKind) => Promise<Iterator<Entry>>;

/** The lists of documents that come in ascending order of their places. */
export function listDocuments(documents: Iterable<Document>, unitDocumentsMin: number): ListSource {
  const grams = new GramTable();
  const units = new UnitTables();
  const users = new Map<string, number[]>();
  // With dividers at each end, so that its last units too begin a run.
  const ending = divider.repeat(gramLength - 1);
  for (const { place, userId, text } of documents) {
    for (const part of text.split(divider)) grams.add(place, part + ending);
    units.add(place, text, divider);
    const places = users.get(String(userId));
    if (places) places.push(place);
    else users.set(String(userId), [place]);
  }
  return async (kind) => {
    if (kind === 'gram') return grams.entries();
    if (kind === 'user') return inOrder(users);
    return (kind === 'word' ? units.words : units.phrases).entries(unitDocumentsMin);
  };
}

/** The lists that a smaller segment holds, moved to their places in a larger one, without the documents to drop. */
export function listSegment(options: {
  pages: (kind: number) => Promise<readonly Uint8Array[]>;
  offset: number;
  dropped: Bitmap;
}): ListSource {
  const { pages, offset, dropped } = options;
  return async (kind) => withoutDropped(unpackPages(await pages(kinds[kind]), offset), dropped);
}

/** The pages of a segment from the lists of its parts; words and phrases in fewer documents than `unitDocumentsMin` are left out. */
export async function* packLists(
  parts: readonly ListSource[],
  span: number,
  unitDocumentsMin: number,
): AsyncGenerator<Page> {
  for (const kind of ['gram', 'user'] as const) {
    yield* packPages(kinds[kind], span, merge(await listsOf(parts, kind)));
  }
  for (const kind of ['word', 'phrase'] as const) {
    const texts: string[] = [];
    const frequent = merge(await listsOf(parts, kind)).filter(
      ({ places }) => places.length >= unitDocumentsMin,
    );
    yield* packPages(kinds[kind], span, noting(frequent, texts));
    const text = divider + texts.map((unit) => unit + divider).join('');
    yield { kind: textKinds[kind], firstKey: keyOrder(''), data: Buffer.from(text) };
  }
}

function listsOf(parts: readonly ListSource[], kind: ListKind): Promise<Iterator<Entry>[]> {
  return Promise.all(parts.map((part) => part(kind)));
}

function* noting(entries: Iterable<Entry>, keys: string[]): Generator<Entry> {
  for (const entry of entries) {
    keys.push(entry.key);
    yield entry;
  }
}

function* withoutDropped(entries: Iterable<Entry>, dropped: Bitmap): Generator<Entry> {
  for (const { key, places } of entries) {
    let length = 0;
    for (const place of places) if (!hasBit(dropped, place)) places[length++] = place;
    if (length > 0) yield { key, places: places.subarray(0, length) };
  }
}

function* inOrder(lists: Map<string, number[]>): Generator<Entry> {
  for (const key of [...lists.keys()].sort()) yield { key, places: Uint16Array.from(lists.get(key) ?? []) };
}

/** One list a key from lists of several parts, whose documents may interleave. */
function* merge(parts: readonly Iterator<Entry>[]): Generator<Entry> {
  const heads = parts.map((part) => ({ part, entry: part.next().value as Entry | undefined }));
  const buffer = new Uint16Array(65_536);
  for (;;) {
    let key: string | undefined;
    for (const { entry } of heads) if (entry && (key === undefined || entry.key < key)) key = entry.key;
    if (key === undefined) return;
    let length = 0;
    let ascending = true;
    for (const head of heads) {
      if (head.entry?.key !== key) continue;
      const { places } = head.entry;
      ascending &&= length === 0 || (buffer[length - 1] as number) < (places[0] as number);
      buffer.set(places, length);
      length += places.length;
      head.entry = head.part.next().value;
    }
    const places = buffer.subarray(0, length);
    yield { key, places: ascending ? places : places.sort() };
  }
}
