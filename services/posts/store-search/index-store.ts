import { sql } from 'kysely';
import { type Session, statement, type WriteSession } from '#kit/db/index.ts';
import type { SegmentRow, Tables } from '../tables.ts';
import type { Plan } from './build.ts';
import type { Page } from './pages.ts';

const state = (name: SegmentRow['state']) => sql.lit(name);

export interface Lease {
  readonly holder: string;
  readonly nowMs: number;
  readonly untilMs: number;
}

interface Totals {
  readonly lastId: number;
  readonly lastChange: number;
  readonly posts: number;
  readonly characters: number;
}

/** Takes the right to make the index, or holds on to it; false where another has it. */
export async function takeLease(session: WriteSession<Tables>, lease: Lease): Promise<boolean> {
  return (await lend.run(session, lease)).changes === 1;
}

export async function lastId(session: Session<Tables>): Promise<number> {
  return (await readTotals(session)).lastId;
}

/** How many posts there were and are, and the number of the last change of an existing one. */
export async function readTotals(session: Session<Tables>): Promise<Totals> {
  return (await total.first(session, {})) as Totals;
}

export async function addSegment(session: WriteSession<Tables>, { firstId, span }: Plan): Promise<number> {
  const added = await insertSegment.first(session, { firstId, span });
  return (added as { id: number }).id;
}

export async function addPage(session: WriteSession<Tables>, segmentId: number, page: Page): Promise<void> {
  await insertPage.run(session, { segmentId, ...page });
}

/**
 * Puts a segment in the place of those that it was made of, unless the lease was lost. Posts of its range that changed
 * up to `change` are in it as they are.
 */
export async function publishSegment(
  session: WriteSession<Tables>,
  { segmentId, plan, change, ...lease }: { segmentId: number; plan: Plan; change: number } & Lease,
): Promise<boolean> {
  if (!(await takeLease(session, lease))) return false;
  const range = { fromId: plan.firstId, toId: plan.firstId + plan.span };
  await replaceSegments.run(session, range);
  await enliven.run(session, { segmentId });
  await dropStale.run(session, { ...range, change });
  return true;
}

/** What a process did not finish is of no use to another. */
export async function buryUnfinished(session: WriteSession<Tables>): Promise<void> {
  await bury.run(session, {});
}

export async function deadSegments(session: Session<Tables>): Promise<number[]> {
  return (await dead.all(session, {})).map(({ id }) => id);
}

/** Removes some pages of a segment; false where none is left. */
export async function dropPages(
  session: WriteSession<Tables>,
  segmentId: number,
  pages: number,
): Promise<boolean> {
  return (await deletePages.run(session, { segmentId, pages })).changes > 0;
}

export async function dropDead(session: WriteSession<Tables>): Promise<void> {
  await deleteDead.run(session, {});
}

const lend = statement<Tables, { [K in keyof Lease]: Lease[K] }>((db, p) =>
  db
    .updateTable('search_lease')
    .set({ holder: p('holder'), until_ms: p('untilMs') })
    .where((e) => e.or([e('holder', '=', p('holder')), e('until_ms', '<', p('nowMs'))])),
);

const total = statement<Tables, Record<never, never>, Totals>((db) =>
  db
    .selectFrom('post_total')
    .select(['last_id as lastId', 'last_change as lastChange', 'posts', 'characters']),
);

const insertSegment = statement<Tables, { firstId: number; span: number }, { id: number }>((db, p) =>
  db
    .insertInto('search_segment')
    .columns(['first_id', 'span', 'state'])
    .values({ first_id: p('firstId'), span: p('span'), state: state('building') } as never)
    .returning('id'),
);

const insertPage = statement<Tables, { segmentId: number } & { [K in keyof Page]: Page[K] }>(
  (_db, p) => sql`INSERT INTO search_page (segment_id, kind, first_key, data)
    VALUES (${p('segmentId')}, ${p('kind')}, ${p('firstKey')}, ${p('data')})`,
);

const replaceSegments = statement<Tables, { fromId: number; toId: number }>((db, p) =>
  db
    .updateTable('search_segment')
    .set({ state: state('dead') })
    .where('state', '=', state('live'))
    .where('first_id', '>=', p('fromId'))
    .where('first_id', '<', p('toId')),
);

const enliven = statement<Tables, { segmentId: number }>((db, p) =>
  db
    .updateTable('search_segment')
    .set({ state: state('live') })
    .where('id', '=', p('segmentId')),
);

const dropStale = statement<Tables, { fromId: number; toId: number; change: number }>((db, p) =>
  db
    .deleteFrom('search_stale')
    .where('post_id', '>=', p('fromId'))
    .where('post_id', '<', p('toId'))
    .where('change', '<=', p('change')),
);

const bury = statement<Tables>((db) =>
  db
    .updateTable('search_segment')
    .set({ state: state('dead') })
    .where('state', '=', state('building')),
);

const dead = statement<Tables, Record<never, never>, { id: number }>((db) =>
  db.selectFrom('search_segment').select('id').where('state', '=', state('dead')),
);

const deletePages = statement<Tables, { segmentId: number; pages: number }>(
  (_db, p) => sql`DELETE FROM search_page WHERE id IN
    (SELECT id FROM search_page WHERE segment_id = ${p('segmentId')} LIMIT ${p('pages')})`,
);

const deleteDead = statement<Tables>((db) =>
  db.deleteFrom('search_segment').where('state', '=', state('dead')),
);
