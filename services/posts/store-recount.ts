import { type Database, type Session, statement, type WriteSession } from '#kit/db/index.ts';
import { slices } from './pause.ts';
import type { Post } from './post.ts';
import { addTotals, postColumns, writeLock } from './store.ts';
import { addToTallies, readTally } from './store-statistics.ts';
import type { Tables } from './tables.ts';
import { Tally } from './tally.ts';

export interface RecountReport {
  /** How many posts were counted. */
  readonly posts: number;
  /** Whether what was kept agreed with the count. */
  readonly agreed: boolean;
}

export interface RecountOptions {
  readonly onProgress?: (posts: number) => void;
  readonly signal?: AbortSignal;
  /** Runs in the transaction that repairs, also where there is nothing to repair; where it throws nothing is. */
  readonly within?: (session: WriteSession<Tables>, report: RecountReport) => Promise<void>;
}

const postsAtOnce = 200;

/**
 * Counts all posts anew and repairs the kept statistics where they differ. Others may write meanwhile: the count and what
 * is kept are of one snapshot, and only their difference is added. Where somebody else has repaired since, it counts again.
 */
export async function recountStatistics(
  database: Database<Tables>,
  options: RecountOptions = {},
): Promise<RecountReport> {
  for (;;) {
    const { posts, difference, repairs } = await database.read((session) =>
      countDifference(session, options),
    );
    const report = { posts, agreed: difference.isZero };
    if (report.agreed && !options.within) return report;
    const isDone = await database.write(async (session) => {
      await session.lock(writeLock);
      if (!report.agreed) {
        if ((await claimRepair.run(session, { repairs })).changes === 0) return false;
        await addToTallies(session, difference);
        await addTotals(session, { posts: difference.posts, characters: difference.characters });
      }
      await options.within?.(session, report);
      return true;
    });
    if (isDone) return report;
  }
}

async function countDifference(session: Session<Tables>, options: RecountOptions) {
  const repairs = (await readRepairs.first(session, {}))?.repairs ?? 0;
  const counted = await countAll(session, options);
  const { posts } = counted;
  counted.addAll(await readTally(session), -1);
  return { posts, difference: counted, repairs };
}

async function countAll(
  session: Session<Tables>,
  { onProgress = () => {}, signal }: RecountOptions,
): Promise<Tally> {
  const pause = slices();
  const tally = new Tally();
  for (let after = 0; ; ) {
    signal?.throwIfAborted();
    const posts = await postsAfter.all(session, { after, limit: postsAtOnce });
    for (const post of posts) {
      tally.add(post);
      tally.addTime(post.createdAtMs, 1);
      await pause();
    }
    onProgress(tally.posts);
    const last = posts.at(-1);
    if (!last) return tally;
    after = last.id;
  }
}

/** The posts that follow an id. */
export const postsAfter = statement<Tables, { after: number; limit: number }, Post>((db, p) =>
  db
    .selectFrom('post')
    .select(postColumns)
    .where('post.id', '>', p('after'))
    .orderBy('post.id')
    .limit(p('limit')),
);

const readRepairs = statement<Tables, Record<never, never>, { repairs: number }>((db) =>
  db.selectFrom('statistics_repair').select('repairs'),
);

const claimRepair = statement<Tables, { repairs: number }>((db, p) =>
  db
    .updateTable('statistics_repair')
    .set((e) => ({ repairs: e('repairs', '+', 1) }))
    .where('repairs', '=', p('repairs')),
);
