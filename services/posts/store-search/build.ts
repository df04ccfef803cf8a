import { sql } from 'kysely';
import { type Session, statement } from '#kit/db/index.ts';
import { searchedText } from '../store-filter.ts';
import type { Tables } from '../tables.ts';
import { addBit, emptyBitmap } from './bitmap.ts';
import { type ListSource, listDocuments, listSegment, packLists } from './lists.ts';
import { type KeptOrder, keptOrders } from './orders.ts';
import { keyOrder, type Page } from './pages.ts';
import { pagesOf, type Segment } from './segments.ts';

/** A segment to be made of those that it replaces and of the posts that they do not know as they are now. */
export interface Plan {
  readonly firstId: number;
  readonly span: number;
  readonly parts: readonly Segment[];
}

const blockSpan = 2_048;

interface DocumentRow {
  readonly id: number;
  readonly userId: number;
  readonly text: string;
}

/** The pages of a segment, as the session's snapshot has its posts. */
export async function* buildSegment(session: Session<Tables>, plan: Plan): AsyncGenerator<Page> {
  const sources = plan.parts.length === 0 ? await blocksOf(session, plan) : await partsOf(session, plan);
  yield* packLists(sources, plan.span, unitPostsMin(plan.span));
  for (const order of Object.values(keptOrders)) yield await packOrder(session, plan, order);
}

/** Of the segments that it is made of, and of the posts that changed since. */
async function partsOf(session: Session<Tables>, { firstId, span, parts }: Plan): Promise<ListSource[]> {
  const changed = (await staleIn.all(session, rangeOf(firstId, span))).map(({ post_id }) => post_id);
  const dropped = emptyBitmap(span);
  for (const id of changed) addBit(dropped, id - firstId);
  const sources = parts.map((part) =>
    listSegment({
      pages: (kind) => pagesOf(session, part.id, kind),
      offset: part.firstId - firstId,
      dropped,
    }),
  );
  const documents = await documentsOf.all(session, { ids: JSON.stringify(changed) });
  return [...sources, listDocuments(placed(documents, firstId), unitPostsMin(span))];
}

/** Of the posts alone, some at a time and packed in between: lists of many posts do not fit into the processor's caches. */
async function blocksOf(session: Session<Tables>, { firstId, span }: Plan): Promise<ListSource[]> {
  const sources: ListSource[] = [];
  for (let offset = 0; offset < span; offset += blockSpan) {
    const first = firstId + offset;
    const documents = await documentsIn.all(session, rangeOf(first, Math.min(blockSpan, span)));
    const pages = new Map<number, Uint8Array[]>();
    const lists = listDocuments(placed(documents, first), unitPostsMin(blockSpan));
    for await (const { kind, data } of packLists([lists], blockSpan, unitPostsMin(blockSpan))) {
      pages.set(kind, [...(pages.get(kind) ?? []), data]);
    }
    sources.push(
      listSegment({ pages: async (kind) => pages.get(kind) ?? [], offset, dropped: emptyBitmap(span) }),
    );
  }
  return sources;
}

function rangeOf(firstId: number, span: number): { fromId: number; toId: number } {
  return { fromId: firstId, toId: firstId + span };
}

/** Words and phrases in fewer posts of a segment have no list: such posts are read. */
function unitPostsMin(span: number): number {
  return Math.max(3, span >>> 11);
}

function* placed(documents: readonly DocumentRow[], firstId: number) {
  for (const { id, userId, text } of documents) yield { place: id - firstId, userId, text };
}

async function packOrder(session: Session<Tables>, { firstId, span }: Plan, order: KeptOrder): Promise<Page> {
  const ids = await order.idsInOrder.all(session, { fromId: firstId, toId: firstId + span });
  const places = Uint16Array.from(ids, ({ id }) => id - firstId);
  return { kind: order.kind, firstKey: keyOrder(''), data: new Uint8Array(places.buffer) };
}

const staleIn = statement<Tables, { fromId: number; toId: number }, { post_id: number }>((db, p) =>
  db
    .selectFrom('search_stale')
    .select('post_id')
    .where('post_id', '>=', p('fromId'))
    .where('post_id', '<', p('toId'))
    .orderBy('post_id'),
);

const documentsIn = statement<Tables, { fromId: number; toId: number }, DocumentRow>((db, p) =>
  db
    .selectFrom('post')
    .select(['id', 'user_id as userId', searchedText.as('text')])
    .where('id', '>=', p('fromId'))
    .where('id', '<', p('toId'))
    .orderBy('id'),
);

const documentsOf = statement<Tables, { ids: string }, DocumentRow>(
  (_db, p) => sql`SELECT post.id, post.user_id AS "userId", ${searchedText} AS text
    FROM json_each(${p('ids')}) AS changed CROSS JOIN post ON post.id = changed.value`,
);
