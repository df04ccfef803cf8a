import type { Session } from '#kit/db/index.ts';
import { divider } from '../fold.ts';
import type { Tables } from '../tables.ts';
import {
  addBit,
  type Bitmap,
  countBits,
  emptyBitmap,
  intersect,
  placesOf,
  subtract,
  unite,
} from './bitmap.ts';
import { gramLength } from './grams.ts';
import type { Kept } from './kept.ts';
import { kinds, type ListKind, listsIn } from './pages.ts';
import { addPlaces } from './postings.ts';
import { pagesWith, type Segment } from './segments.ts';
import { hasTermIn } from './texts.ts';
import { hasSeparator } from './units.ts';

/** So few posts are sooner read than narrowed down further. */
const unsureFew = 8;

/** The posts of a user, as the segment was built. */
export async function matchUser(session: Session<Tables>, segment: Segment, userId: number): Promise<Bitmap> {
  const key = String(userId);
  return readLists(session, segment, { kind: 'user', low: key, high: key });
}

/** The posts that had a term when the segment was built; exact but for those that have changed since. */
export async function matchTerm(
  session: Session<Tables>,
  segment: Segment,
  { term, kept }: { term: string; kept: Kept },
): Promise<Bitmap> {
  const key = `${segment.id} ${term}`;
  const known = kept.bitmap(key);
  if (known) return known;
  const bitmap =
    term.length <= gramLength
      ? await readLists(session, segment, runsFrom(term))
      : await matchLongTerm(session, segment, { term, kept });
  kept.keepBitmap(key, bitmap);
  return bitmap;
}

/** Runs say which posts may have it, words and phrases that contain it prove it for most of them, and the rest are read. */
async function matchLongTerm(
  session: Session<Tables>,
  segment: Segment,
  { term, kept }: { term: string; kept: Kept },
): Promise<Bitmap> {
  const matches = await matchUnits(session, segment, { term, kept });
  const unsure = new Uint32Array(segment.span >>> 5).fill(0xffffffff);
  subtract(unsure, matches);
  for (const start of runStarts(term.length)) {
    const run = term.slice(start, start + gramLength);
    intersect(unsure, await readLists(session, segment, { kind: 'gram', low: run, high: run }));
    if (countBits(unsure) <= unsureFew) break;
  }
  const ids = Array.from(placesOf(unsure), (place) => segment.firstId + place);
  for (const id of await hasTermIn(session, ids, term)) addBit(matches, id - segment.firstId);
  return matches;
}

/** Where runs begin that cover a term, and then those between them. */
function runStarts(length: number): number[] {
  const starts: number[] = [];
  for (let start = 0; start + gramLength <= length; start += gramLength) starts.push(start);
  if (length % gramLength !== 0) starts.push(length - gramLength);
  for (let start = 1; start + gramLength < length; start++) if (start % gramLength !== 0) starts.push(start);
  return starts;
}

/** The posts with a frequent word or phrase that contains the term. */
async function matchUnits(
  session: Session<Tables>,
  segment: Segment,
  { term, kept }: { term: string; kept: Kept },
): Promise<Bitmap> {
  const kind = hasSeparator(term) ? 'phrase' : 'word';
  const matches = emptyBitmap(segment.span);
  for (const unit of unitsWith(await kept.texts(session, segment, kind), term)) {
    unite(matches, await readLists(session, segment, { kind, low: unit, high: unit }));
  }
  return matches;
}

function* unitsWith(texts: string, term: string): Generator<string> {
  for (let at = texts.indexOf(term); at !== -1; ) {
    const end = texts.indexOf(divider, at);
    yield texts.slice(texts.lastIndexOf(divider, at) + 1, end);
    at = texts.indexOf(term, end);
  }
}

/** The runs that begin with a term. */
function runsFrom(term: string): ListRange {
  return { kind: 'gram', low: term, high: term.padEnd(gramLength, '\uffff') };
}

interface ListRange {
  readonly kind: ListKind;
  readonly low: string;
  readonly high: string;
}

/** The posts of all keys of a range. */
async function readLists(
  session: Session<Tables>,
  segment: Segment,
  { kind, low, high }: ListRange,
): Promise<Bitmap> {
  const bitmap = emptyBitmap(segment.span);
  for (const page of await pagesWith(session, { segmentId: segment.id, kind: kinds[kind], low, high })) {
    for (const list of listsIn(page, low, high)) addPlaces(bitmap, list);
  }
  return bitmap;
}
