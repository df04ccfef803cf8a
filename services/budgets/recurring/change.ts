import { addDays } from '../money/periods.ts';
import {
  firstFrom,
  longestMove,
  type Occurrence,
  occurrences,
  type Recurrence,
  yearBefore,
} from './recurrence.ts';
import { countMax } from './recurring.ts';

interface Change {
  /** Occurrences that an earlier start adds, of a year at most. */
  readonly missed: readonly Occurrence[];
  /** The first nominal day that the changed rule decides. */
  readonly since: string;
  /** Number of days with an expense before that. */
  readonly made: number;
}

/**
 * A change of a rule on a day, whose occurrences until then have been added; `added` are the days of the last week. The changed rule decides from the next day on, and what was
 * to be added on a working day that has not come yet.
 */
export function changeOf(
  before: Recurrence,
  changed: Recurrence,
  { today, added }: { readonly today: string; readonly added: ReadonlySet<string> },
): Change {
  const past = pastOf(before, today);
  const { missed, made, waiting } = missedBefore(before, changed, today);
  const open = waiting !== undefined && waiting < past.open ? waiting : past.open;
  return {
    missed,
    since: sinceOf(changed, open, added),
    made: changed.start > today ? 0 : past.made + made,
  };
}

interface Past {
  /** Number of days with an expense. */
  readonly made: number;
  /** The first nominal day without one. */
  readonly open: string;
}

/** Days before today in which an occurrence can still wait for its working day, or be one with a later one. */
export const lookBack = 7;

/** The occurrences of a rule until a day. */
function pastOf(rule: Recurrence, today: string): Past {
  const tomorrow = addDays(today, 1);
  let open = rule.since !== undefined && rule.since > tomorrow ? rule.since : tomorrow;
  for (const { nominal, day } of occurrences(rule, addDays(today, -lookBack))) {
    if (day > today) {
      if (nominal < open) open = nominal;
      break;
    }
    if (nominal >= open) open = addDays(nominal, 1);
  }
  return { made: madeUntil(rule, today), open };
}

function madeUntil(rule: Recurrence, today: string): number {
  let { made = 0 } = rule;
  let last: string | undefined;
  for (const { day } of occurrences(rule, addDays(rule.since ?? rule.start, -longestMove))) {
    if (day > today || made >= countMax) break;
    if (day !== last) made++;
    last = day;
  }
  return made;
}

/** The first open day, after those that move onto days which have an expense. */
function sinceOf(rule: Recurrence, open: string, added: ReadonlySet<string>): string {
  let since = open;
  for (const { nominal, day } of occurrences({ ...rule, since, made: 0 }, addDays(open, -longestMove))) {
    if (!added.has(day)) break;
    since = addDays(nominal, 1);
  }
  return since;
}

interface Missed {
  readonly missed: readonly Occurrence[];
  /** Number of days with an expense before the old start. */
  readonly made: number;
  /** The first nominal day whose working day has not come yet. */
  readonly waiting?: string;
}

function missedBefore(before: Recurrence, changed: Recurrence, today: string): Missed {
  const missed: Occurrence[] = [];
  const days = new Set<string>();
  if (changed.start >= before.start) return { missed, made: 0 };
  const oldest = yearBefore(today);
  const firstOld = firstFrom({ ...before, since: undefined, made: 0 }, before.start);
  const rule = { ...changed, since: undefined, made: 0 };
  for (const occurrence of occurrences(rule, changed.count === undefined ? oldest : changed.start)) {
    const { nominal, day } = occurrence;
    if (nominal >= before.start) break;
    if (day > today) return { missed, made: days.size, waiting: nominal };
    if (day === firstOld) continue;
    days.add(day);
    if (day >= oldest) missed.push(occurrence);
  }
  return { missed, made: days.size };
}
