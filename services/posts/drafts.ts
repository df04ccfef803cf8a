import type { WriteSession } from '#kit/db/index.ts';
import { storedFold } from './fold.ts';
import { slices } from './pause.ts';
import type { NewPost } from './post.ts';
import { type Folded, insertPosts, type Reserved, reserveIds } from './store.ts';
import { addToTallies } from './store-statistics.ts';
import type { Tables } from './tables.ts';
import { Tally } from './tally.ts';

/** Posts that are ready to be written: all that can be computed without the database is. */
export interface Drafts {
  readonly rows: readonly (NewPost & Folded)[];
  readonly tally: Tally;
}

export async function draft(posts: readonly NewPost[]): Promise<Drafts> {
  const pause = slices();
  const tally = new Tally();
  const rows: Drafts['rows'][number][] = [];
  for (const { userId, title, body } of posts) {
    rows.push({ userId, title, body, folded: storedFold(title, body) });
    tally.add({ userId, title, body });
    const turn = pause();
    if (turn) await turn;
  }
  return { rows, tally };
}

/** Writes new posts, in order, with their statistics; gives the ids and the time that they got. */
export async function insertDrafts(
  session: WriteSession<Tables>,
  { rows, tally }: Drafts,
  nowMs: number,
): Promise<Reserved> {
  const { posts, characters } = tally;
  const reserved = await reserveIds(session, { posts, characters, nowMs });
  await insertPosts(session, rows, { ...reserved, pause: slices() });
  // Set, not added: the transaction may run again.
  tally.hours.clear();
  tally.addTime(reserved.createdAtMs, posts);
  await addToTallies(session, tally);
  return reserved;
}
