import { allOptional, field, isoTime, type Static, Type, withoutLabels } from '@octavo/core';
import { toMajor } from '@octavo/documents/values';
import {
  Amount,
  AmountInput,
  Currency,
  Day,
  Id,
  Instant,
  Minor,
  nullable,
  Reference,
  text,
} from '../edges/schemas.ts';
import type { RecurringRow } from '../store/tables.ts';
import { onWeekends, type Recurrence, type Weekday, weekdays } from './recurrence.ts';

export const frequencies = ['daily', 'weekly', 'monthly', 'yearly'] as const;

const freq = Type.Enum(frequencies);
const interval = Type.Integer({
  minimum: 1,
  maximum: 1_000,
  description: 'Number of days, weeks, ... between two occurrences',
});
const byDay = Type.Array(Type.Enum(weekdays), {
  minItems: 1,
  maxItems: 7,
  description: 'Daily and weekly: only on these days',
  examples: [['MO', 'FR']],
});
const monthDay = Type.Integer({ minimum: 1, maximum: 31 });
const byMonthDay = Type.Union([monthDay, Type.Array(monthDay, { minItems: 1, maxItems: 31 })], {
  description: 'Monthly and yearly: the day of the month, or several; on its last day if it is shorter',
  'x-problem': 'must be a day of the month from 1 to 31, or several',
  examples: [31],
});
const onWeekend = Type.Enum(onWeekends, {
  description: 'Days on a weekend stay, or move to the Friday before or the Monday after',
});
export const countMax = 10_000;
const count = Type.Integer({ minimum: 1, maximum: countMax, description: 'Total number of occurrences' });
const timezone = Type.String({ maxLength: 64, examples: ['Europe/Berlin'] });

export const Recurring = Type.Object(
  {
    id: Id,
    budgetId: Id,
    description: Type.String({ examples: ['Rent'] }),
    amount: Amount,
    amountMinor: Minor,
    currency: Currency,
    category: nullable(Type.String()),
    freq,
    interval,
    byDay: nullable(byDay),
    byMonthDay: nullable(byMonthDay),
    onWeekend: Type.Enum(onWeekends, { ...onWeekend, default: 'same' }),
    start: Day,
    end: nullable(Day),
    count: nullable(count),
    timezone,
    next: nullable(Type.String({ ...Day, description: 'The next day; none if it has ended' })),
    createdAt: Instant,
    updatedAt: Instant,
    version: Type.Integer({ examples: [1] }),
  },
  { title: 'Recurring' },
);
export type Recurring = Static<typeof Recurring>;

/** The fields of a recurring expense that people write, as those of budgets. */
export const recurringFields = {
  budgetId: field('Budget', Reference),
  description: field('Description', text(500, { examples: ['Rent'] })),
  amount: field('Amount', AmountInput),
  freq: field('How often', freq),
  start: Type.Optional(field('First day', Type.String({ ...Day, description: 'Today by default' }))),
  category: Type.Optional(field('Category', nullable(text(100)))),
  interval: Type.Optional(field('Every', interval)),
  byDay: Type.Optional(field('On these days of the week', nullable(byDay))),
  byMonthDay: Type.Optional(field('On these days of the month', nullable(byMonthDay))),
  onWeekend: Type.Optional(field('On a weekend', onWeekend)),
  end: Type.Optional(field('Last day', nullable(Day))),
  count: Type.Optional(field('How many times', nullable(count))),
  timezone: Type.Optional(field('Time zone', timezone)),
};
const inputFields = withoutLabels(recurringFields);

export const RecurringInput = Type.Object(inputFields, { title: 'RecurringInput' });
export type RecurringInput = Static<typeof RecurringInput>;

export const RecurringPatch = Type.Object(
  {
    ...allOptional(inputFields),
    description: Type.Optional(text(500)),
    start: Type.Optional(Day),
  },
  {
    title: 'RecurringPatch',
    description:
      'Fields that are left out stay unchanged. A change applies from the next day on; only an earlier start adds what was missed.',
  },
);
export type RecurringPatch = Static<typeof RecurringPatch>;

export type RecurringWithBudget = RecurringRow & { readonly budget_id: string };

export function recurrenceOf(row: Omit<RecurringRow, 'next_on' | 'next_at_ms'>): Recurrence {
  const days = parsed<number | number[]>(row.by_month_day);
  return {
    freq: row.freq,
    interval: row.every,
    byDay: parsed<Weekday[]>(row.by_day),
    byMonthDay: days === undefined ? undefined : [days].flat(),
    onWeekend: row.on_weekend,
    start: row.start_on,
    end: row.end_on ?? undefined,
    count: row.count ?? undefined,
    since: row.since_on ?? undefined,
    made: row.made,
  };
}

export function toRecurring(row: RecurringWithBudget): Recurring {
  return {
    id: row.id,
    budgetId: row.budget_id,
    description: row.description,
    amount: toMajor(row.amount_minor, row.currency),
    amountMinor: row.amount_minor,
    currency: row.currency,
    category: row.category,
    freq: row.freq,
    interval: row.every,
    byDay: parsed<Weekday[]>(row.by_day) ?? null,
    byMonthDay: parsed<number | number[]>(row.by_month_day) ?? null,
    onWeekend: row.on_weekend,
    start: row.start_on,
    end: row.end_on,
    count: row.count,
    timezone: row.timezone,
    next: row.next_on,
    createdAt: isoTime(row.created_at_ms),
    updatedAt: isoTime(row.updated_at_ms),
    version: row.version,
  };
}

function parsed<T>(json: string | null): T | undefined {
  return json === null ? undefined : (JSON.parse(json) as T);
}
