import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addDays } from '../../money/periods.ts';
import { Rollover, type Spending } from './rollover.ts';
import { periodOn, spansOf, type Terms } from './terms.ts';

const kinds = ['none', 'daily', 'weekly', 'monthly', 'quarterly', 'yearly'] as const;
const rollovers = ['none', 'full', 'positive'] as const;

/** Numbers below a bound, the same in each run. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** The amount carried over, added up period by period. */
function stepByStep(
  spans: ReturnType<typeof spansOf>,
  { start, begin }: { start: string; begin: string },
  spending: readonly Spending[],
): bigint {
  let carried = 0n;
  for (let day = start; day < begin; ) {
    const { terms, period } = periodOn(spans, day);
    const span = spans.find(({ to }) => to === undefined || day <= to);
    const end = period.to ?? span?.to ?? addDays(begin, -1);
    const from = period.from ?? '';
    const first = span?.from !== undefined && span.from > from ? span.from : from;
    const spent = spending.filter((each) => first <= each.day && each.day <= end && each.day < begin);
    carried += BigInt(terms.limit_minor) - spent.reduce((all, { minor }) => all + minor, 0n);
    if (terms.rollover === 'none' || terms.period === 'none') carried = 0n;
    if (terms.rollover === 'positive' && carried < 0n) carried = 0n;
    day = addDays(end, 1);
  }
  return carried;
}

test('what is carried over is the same as period by period, whatever the terms were', () => {
  const random = numbers(7);
  const termsOf = (): Terms => ({
    limit_minor: random(100),
    period: kinds[random(6)] ?? 'none',
    period_day: [1, 1, 15, 28][random(4)] ?? 1,
    rollover: rollovers[random(3)] ?? 'none',
  });
  for (let round = 0; round < 300; round++) {
    const first = addDays('1969-06-10', random(900));
    const ends = [first, addDays(first, 1 + random(300))].slice(0, round % 3);
    const past = ends.map((until_day) => ({ ...termsOf(), until_day }));
    const spans = spansOf(termsOf(), past);
    const start = addDays('1969-06-10', random(400));
    const begin = periodOn(spans, addDays(start, random(1_200))).period.from;
    if (begin === null) continue;
    const days = Array.from({ length: random(40) }, () => addDays('1969-06-01', random(1_300))).sort();
    const spending = days.filter((day) => day < begin).map((day) => ({ day, minor: BigInt(random(300)) }));
    const rollover = new Rollover(spans, start);
    for (const each of spending) rollover.add(each);
    assert.equal(
      rollover.into(begin),
      stepByStep(spans, { start, begin }, spending),
      JSON.stringify({ round, start, begin, spans }),
    );
  }
});
