import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { addDays } from '../money/periods.ts';
import { changeOf } from './change.ts';
import { occurrences, onWeekends, type Recurrence, weekdays } from './recurrence.ts';

const epoch = '2026-01-01';
const day = fc.integer({ min: 0, max: 60 }).map((days) => addDays(epoch, days));
const some = <T>(values: readonly T[]) => fc.subarray([...values], { minLength: 1 });
const schedule = fc.oneof(
  fc.record({ freq: fc.constant('daily' as const), byDay: fc.option(some(weekdays), { nil: undefined }) }),
  fc.record({ freq: fc.constant('weekly' as const), byDay: some(weekdays) }),
  fc.record({ freq: fc.constant('monthly' as const), byMonthDay: some([1, 2, 9, 14, 15, 16, 28, 30, 31]) }),
);
const rule: fc.Arbitrary<Recurrence> = fc
  .record({
    schedule,
    start: day,
    onWeekend: fc.constantFrom(...onWeekends),
    length: fc.option(fc.nat(90), { nil: undefined }),
    count: fc.option(fc.integer({ min: 1, max: 12 }), { nil: undefined }),
  })
  .map(({ schedule, start, onWeekend, length, count }) => ({
    byDay: undefined,
    byMonthDay: undefined,
    ...schedule,
    interval: 1,
    start,
    onWeekend,
    count,
    end: length === undefined ? undefined : addDays(start, length),
  }));

const weekdayOf = (day: string) => (new Date(day).getUTCDay() + 6) % 7;

function isNominal({ freq, byDay, byMonthDay }: Recurrence, day: string): boolean {
  if (freq !== 'monthly')
    return byDay === undefined || byDay.some((name) => weekdays.indexOf(name) === weekdayOf(day));
  const number = Number(day.slice(8));
  const isLast = addDays(day, 1).endsWith('-01');
  return (byMonthDay ?? []).some((wanted) => wanted === number || (isLast && wanted > number));
}

function movedDay({ onWeekend, start }: Recurrence, nominal: string): string {
  const step = onWeekend === 'before' ? -1 : 1;
  let day = nominal;
  if (onWeekend !== 'same') while (weekdayOf(day) > 4) day = addDays(day, step);
  if (day < start) for (day = nominal; weekdayOf(day) > 4; ) day = addDays(day, 1);
  return day;
}

/** The days of a rule until one, by looking at each day of the calendar. */
function naiveDays(rule: Recurrence, until: string): string[] {
  const days = new Set<string>();
  for (let day = rule.start; day <= addDays(until, 3) && day <= (rule.end ?? '9999'); day = addDays(day, 1))
    if (isNominal(rule, day)) days.add(movedDay(rule, day));
  return [...days].slice(0, rule.count).filter((day) => day <= until);
}

function daysFrom(rule: Recurrence, from: string, until: string): string[] {
  const days: string[] = [];
  for (const { day } of occurrences(rule, from)) {
    if (day > until) break;
    if (day !== days.at(-1)) days.push(day);
  }
  return days;
}

test('occurrences are those of a calendar, from any day on', () => {
  fc.assert(
    fc.property(rule, fc.nat(100), (rule, skipped) => {
      const until = addDays(rule.start, 120);
      const from = addDays(rule.start, skipped);
      const days = naiveDays(rule, until);
      assert.deepEqual(daysFrom(rule, rule.start, until), days);
      assert.deepEqual(
        daysFrom(rule, from, until),
        days.filter((day) => day >= from),
      );
      if (rule.onWeekend !== 'same') assert.ok(days.every((day) => weekdayOf(day) < 5));
    }),
  );
});

/** Steps of a calendar, in days, and what the rule does from then on. */
const changes = fc.array(fc.tuple(fc.integer({ min: 0, max: 9 }), fc.constantFrom(...onWeekends)), {
  minLength: 1,
  maxLength: 8,
});

test('changes of the move add each nominal day once, however often they come', () => {
  fc.assert(
    fc.property(rule, changes, (first, changes) => {
      const added = new Map<string, string>();
      const claim = (rule: Recurrence, today: string) => {
        for (const { nominal, day } of occurrences(rule, addDays(today, -30))) {
          if (day > today) break;
          if (!added.has(nominal) && ![...added.values()].includes(day)) added.set(nominal, day);
        }
      };
      let rule = first;
      let today = rule.start;
      for (const [step, onWeekend] of changes) {
        today = addDays(today, step);
        claim(rule, today);
        const changed = { ...rule, onWeekend };
        const { since, made } = changeOf(rule, changed, { today, added: new Set(added.values()) });
        assert.equal(made, added.size, 'count goes on from the expenses that are there');
        rule = { ...changed, since, made };
        claim(rule, today);
      }
      const days = [...added.values()];
      assert.ok(days.every((day) => day >= rule.start && day <= today));
      if (rule.count !== undefined) return assert.ok(days.length <= rule.count);
      // Nothing is lost: each nominal day whose last possible day has come has an expense close to it.
      for (
        let day = rule.start;
        addDays(day, 2) <= today && day <= (rule.end ?? '9999');
        day = addDays(day, 1)
      ) {
        if (!isNominal(rule, day)) continue;
        const possible = onWeekends.map((onWeekend) => movedDay({ ...rule, onWeekend }, day));
        assert.ok(
          possible.some((day) => days.includes(day)),
          `${day} was lost`,
        );
      }
      // Nothing is doubled: two nominal days that are a week apart have an expense each, and no more.
      if (rule.freq === 'weekly' && rule.byDay?.length === 1) {
        const nominal = [...Array(200).keys()]
          .map((n) => addDays(rule.start, n))
          .filter((day) => isNominal(rule, day));
        assert.ok(days.length <= nominal.filter((day) => day <= addDays(today, 2)).length);
      }
    }),
    { numRuns: 300 },
  );
});
