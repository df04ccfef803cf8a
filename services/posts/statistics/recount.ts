import type { Database, Session, WriteSession } from '@octavo/data';
import { type Tables, writeLock } from '../database.ts';
import { slices } from '../pause.ts';
import { StatisticsDelta } from './delta.ts';
import { addStatistics, claimRepair, postsAfter, readRepairs, readStored } from './store.ts';

export interface RecountReport {
  /** Number of posts counted. */
  readonly posts: number;
  /** True if the stored statistics agreed with the count. */
  readonly agreed: boolean;
}

export interface RecountOptions {
  readonly onProgress?: (posts: number) => void;
  readonly signal?: AbortSignal;
  /** Runs in the transaction of the repair, even without anything to repair. If it throws, nothing is repaired. */
  readonly within?: (session: WriteSession<Tables>, report: RecountReport) => Promise<void>;
}

const postsAtOnce = 200;

/**
 * Counts all posts and repairs the stored statistics where they differ. Other processes may write during it: the count and the
 * statistics are of one snapshot, and only their difference is added. If another recount has repaired since, it starts over.
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
        if ((await claimRepair(session, repairs)).numUpdatedRows === 0n) return false;
        await addStatistics(session, difference);
      }
      await options.within?.(session, report);
      return true;
    });
    if (isDone) return report;
  }
}

async function countDifference(session: Session<Tables>, options: RecountOptions) {
  const repairs = (await readRepairs(session))?.repairs ?? 0;
  const counted = await countAll(session, options);
  const { posts } = counted;
  counted.addAll(await readStored(session), -1);
  return { posts, difference: counted, repairs };
}

async function countAll(
  session: Session<Tables>,
  { onProgress = () => {}, signal }: RecountOptions,
): Promise<StatisticsDelta> {
  const pause = slices();
  const counted = new StatisticsDelta();
  for (let after = 0; ; ) {
    signal?.throwIfAborted();
    const posts = await postsAfter(session, after, postsAtOnce);
    for (const post of posts) {
      counted.add(post);
      counted.addTime(post.createdAtMs, 1);
      await pause();
    }
    onProgress(counted.posts);
    const last = posts.at(-1);
    if (!last) return counted;
    after = last.id;
  }
}
