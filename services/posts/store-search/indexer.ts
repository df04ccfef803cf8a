import type { Clock } from '#kit/clock.ts';
import type { Database, Session } from '#kit/db/index.ts';
import { newId } from '#kit/ids.ts';
import type { Tables } from '../tables.ts';
import { buildSegment, type Plan } from './build.ts';
import {
  addPage,
  addSegment,
  buryUnfinished,
  deadSegments,
  dropDead,
  dropPages,
  type Lease,
  publishSegment,
  readTotals,
  takeLease,
} from './index-store.ts';
import type { Page } from './pages.ts';
import { planSegment, type Spans, usualSpans } from './plan.ts';
import { liveSegments, staleIds } from './segments.ts';

/** How long the index may stay with one process that does not answer. */
const leaseMs = 15_000;
/** Each write is short, because others wait for it. */
const pagesAtOnce = 48;

/**
 * Makes the segments that are due, one after another, until none is. Only one process of all that share the database
 * does, and it alone writes the tables of the index except `search_stale`.
 */
export class Indexer {
  readonly #database: Database<Tables>;
  readonly #clock: Clock;
  readonly #spans: Spans;
  readonly #holder = newId();

  /** The clock must be the same for all processes: no clock of a test. */
  constructor(database: Database<Tables>, clock: Clock, spans: Spans = usualSpans) {
    this.#database = database;
    this.#clock = clock;
    this.#spans = spans;
  }

  /** False where another process makes the index now. The signal ends it between two writes. */
  async run(signal: AbortSignal): Promise<boolean> {
    if (!(await this.#takeLease())) return false;
    await this.#database.write((session) => buryUnfinished(session));
    await this.#sweep();
    while (!signal.aborted) {
      const plan = await this.#database.read((session) => nextPlan(session, this.#spans));
      if (!plan) break;
      if (!(await this.#make(plan, signal))) break;
      await this.#sweep();
    }
    return this.#database.write((session) => takeLease(session, { ...this.#lease(), untilMs: 0 }));
  }

  #takeLease(): Promise<boolean> {
    return this.#database.write((session) => takeLease(session, this.#lease()));
  }

  #lease(): Lease {
    const nowMs = this.#clock.now();
    return { holder: this.#holder, nowMs, untilMs: nowMs + leaseMs };
  }

  /** False where the lease was lost or the signal came: what was written so far is left for the next holder to bury. */
  #make(plan: Plan, signal: AbortSignal): Promise<boolean> {
    return this.#database.read(async (session) => {
      const { lastChange: change } = await readTotals(session);
      const segmentId = await this.#database.write((writer) => addSegment(writer, plan));
      let pages: Page[] = [];
      for await (const page of buildSegment(session, plan)) {
        pages.push(page);
        if (pages.length < pagesAtOnce) continue;
        if (signal.aborted || !(await this.#add(segmentId, pages))) return false;
        pages = [];
      }
      if (!(await this.#add(segmentId, pages))) return false;
      return this.#database.write((writer) =>
        publishSegment(writer, { segmentId, plan, change, ...this.#lease() }),
      );
    });
  }

  /** False where the lease was lost. */
  #add(segmentId: number, pages: readonly Page[]): Promise<boolean> {
    return this.#database.write(async (session) => {
      if (!(await takeLease(session, this.#lease()))) return false;
      for (const page of pages) await addPage(session, segmentId, page);
      return true;
    });
  }

  /** Removes the pages of replaced segments, some at a time. Readers of older snapshots still see them. */
  async #sweep(): Promise<void> {
    for (const segmentId of await deadSegments(this.#database)) {
      while (await this.#database.write((session) => dropPages(session, segmentId, pagesAtOnce)));
    }
    await this.#database.write((session) => dropDead(session));
  }
}

/** Whether there is something to make. */
export async function isIndexDue(session: Session<Tables>): Promise<boolean> {
  return (await nextPlan(session, usualSpans)) !== undefined;
}

async function nextPlan(session: Session<Tables>, spans: Spans): Promise<Plan | undefined> {
  const { lastId, posts, characters } = await readTotals(session);
  return planSegment({
    segments: await liveSegments(session),
    stale: await staleIds(session),
    lastId,
    averageCharacters: characters / Math.max(1, posts),
    spans,
  });
}
