import type { Session } from '#kit/db/index.ts';
import type { PageRequest, PostFilter } from '../post.ts';
import type { Tables } from '../tables.ts';
import {
  addBit,
  type Bitmap,
  countBits,
  dropBit,
  emptyBitmap,
  hasBit,
  intersect,
  placesOf,
} from './bitmap.ts';
import type { Kept, PlaceOrder } from './kept.ts';
import { matchTerm, matchUser } from './match.ts';
import { compareKeys, type KeptOrder, keptOrders, keysOf } from './orders.ts';
import { endOf, liveSegments, type Segment, staleIds } from './segments.ts';
import { type OrderedList, selectIds } from './select.ts';
import { looseMatches } from './texts.ts';

/** A segment with those of its posts that match and have not changed since it was built; without a bitmap all do. */
interface Part {
  readonly segment: Segment;
  readonly matches: Bitmap | undefined;
}

interface Matches {
  readonly parts: readonly Part[];
  /** Matches that the segments do not tell: newer posts, and those changed since; by ascending ids. */
  readonly loose: readonly number[];
}

/** The ids of a page and how many match in all, by the search index. Exact for the session's snapshot. */
export async function searchIds(
  session: Session<Tables>,
  kept: Kept,
  request: PageRequest,
): Promise<{ ids: number[]; total: number }> {
  const { order, descending, offset } = request;
  const matches = await findMatches(session, kept, request);
  const keptOrder = order === 'id' ? undefined : keptOrders[order];
  const lists = keptOrder ? await listsInOrder(session, kept, matches, keptOrder) : listsById(matches);
  const total = lists.reduce((sum, { length }) => sum + length, 0);
  const limit = Math.max(0, Math.min(request.limit, total - offset));
  const page = { offset: descending ? total - offset - limit : offset, limit };
  const ids = keptOrder
    ? await selectIds(lists, page, (some) => keysOf(session, keptOrder, some))
    : idsAt(lists, page);
  return { ids: descending ? ids.reverse() : ids, total };
}

async function findMatches(
  session: Session<Tables>,
  kept: Kept,
  { userId, term }: PostFilter,
): Promise<Matches> {
  const segments = await liveSegments(session);
  kept.retain(segments);
  const stale = await staleIds(session);
  const parts: Part[] = [];
  for (const segment of segments) {
    const matches = await matchSegment(session, segment, { userId, term, kept });
    parts.push({ segment, matches: withoutStale(matches, segment, stale) });
  }
  return { parts, loose: await looseMatches(session, { fromId: endOf(segments), stale, userId, term }) };
}

/** The matches as the segment was built, to be changed by the caller; undefined for all. */
async function matchSegment(
  session: Session<Tables>,
  segment: Segment,
  { userId, term, kept }: { userId: number | undefined; term: string | undefined; kept: Kept },
): Promise<Bitmap | undefined> {
  const ofUser = userId === undefined ? undefined : await matchUser(session, segment, userId);
  if (term === undefined || (ofUser && countBits(ofUser) === 0)) return ofUser;
  const withTerm = (await matchTerm(session, segment, { term, kept })).slice();
  if (ofUser) intersect(withTerm, ofUser);
  return withTerm;
}

function withoutStale(
  matches: Bitmap | undefined,
  { firstId, span }: Segment,
  stale: readonly number[],
): Bitmap | undefined {
  const places = stale.filter((id) => id >= firstId && id < firstId + span).map((id) => id - firstId);
  if (places.length === 0) return matches;
  const fresh = matches ?? new Uint32Array(span >>> 5).fill(0xffffffff);
  for (const place of places) dropBit(fresh, place);
  return fresh;
}

/** One list after another: those of the segments, with what has changed in its place, and the newer posts. */
function listsById({ parts, loose }: Matches): OrderedList[] {
  let next = 0;
  const lists = parts.map(({ segment: { firstId, span }, matches }) => {
    const bitmap = matches ?? emptyBitmap(span);
    for (; next < loose.length && (loose[next] as number) < firstId + span; next++) {
      addBit(bitmap, (loose[next] as number) - firstId);
    }
    return listOfPlaces(firstId, placesOf(bitmap));
  });
  return [...lists, listOfIds(loose.slice(next))];
}

async function listsInOrder(
  session: Session<Tables>,
  kept: Kept,
  { parts, loose }: Matches,
  order: KeptOrder,
): Promise<OrderedList[]> {
  const lists: OrderedList[] = [];
  for (const { segment, matches } of parts) {
    const ordered = await kept.order(session, segment, order.kind);
    lists.push(listOfPlaces(segment.firstId, matches ? placesInOrder(ordered, matches) : ordered.places));
  }
  const keys = await keysOf(session, order, loose);
  return [...lists, listOfIds(keys.sort(compareKeys).map(({ id }) => id))];
}

/** Few matches are put in order; of many, those that do not match are left out. */
function placesInOrder({ places, ranks }: PlaceOrder, matches: Bitmap): Uint16Array {
  const count = countBits(matches);
  if (count * 16 < places.length) {
    return placesOf(matches)
      .map((place) => ranks[place] as number)
      .sort()
      .map((rank) => places[rank] as number);
  }
  const matching = new Uint16Array(count);
  let length = 0;
  for (const place of places) if (hasBit(matches, place)) matching[length++] = place;
  return matching.subarray(0, length);
}

/** The ids of a range of lists that lie one after another. */
function idsAt(
  lists: readonly OrderedList[],
  { offset, limit }: { offset: number; limit: number },
): number[] {
  const ids: number[] = [];
  let before = 0;
  for (const list of lists) {
    for (let at = Math.max(0, offset - before); at < list.length && ids.length < limit; at++)
      ids.push(list.at(at));
    before += list.length;
  }
  return ids;
}

function listOfPlaces(firstId: number, places: Uint16Array): OrderedList {
  return { length: places.length, at: (index) => firstId + (places[index] as number) };
}

function listOfIds(ids: readonly number[]): OrderedList {
  return { length: ids.length, at: (index) => ids[index] as number };
}
