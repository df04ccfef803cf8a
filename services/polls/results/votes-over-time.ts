import type { Clock } from '@octavo/core';
import { type Database, scan } from '@octavo/data';
import {
  card,
  columnChart,
  count,
  empty,
  html,
  kept,
  layout,
  linkButton,
  readerLocale,
} from '@octavo/web/html';
import { sql } from 'kysely';
import type { PageVisit, PollView } from '../pages-poll.ts';
import { beside, frameOf, headOf } from '../pages-views.ts';
import type { Poll } from '../poll.ts';
import { pageRoutes, pathOf } from '../routes.ts';
import type { Tables } from '../store.ts';

/** Votes in equal spans of time, the first one from `startMs`. */
export interface VotesOverTime {
  readonly startMs: number;
  readonly spanMs: number;
  readonly votes: readonly number[];
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
const spansMs = [1, 5, 15, 60, 6 * 60]
  .map((minutes) => minutes * minuteMs)
  .concat([1, 7, 28, 364].map((days) => days * dayMs));
const columnsMax = 40;
const ticksMax = 4;
const keptMs = 10_000;
const pollsMax = 500;

/** Counts votes by time. A count is kept for ten seconds, because a poll that many people look at may have millions of votes. */
export class VoteTimes {
  readonly #database: Database<Tables>;
  readonly #clock: Clock;
  readonly #kept = new Map<
    number,
    { readonly untilMs: number; readonly counted: Promise<VotesOverTime | undefined> }
  >();

  constructor({ database, clock }: { readonly database: Database<Tables>; readonly clock: Clock }) {
    this.#database = database;
    this.#clock = clock;
  }

  /** The votes of a poll; undefined if there are none. */
  of({ question, choices }: Poll): Promise<VotesOverTime | undefined> {
    const now = this.#clock.now();
    const known = this.#kept.get(question.id);
    if (known && known.untilMs > now) return known.counted;
    const touched = choices.reduce((sum, { votes }) => sum + votes, 0);
    const counted = countByTime(this.#database, { ids: choices.map(({ id }) => id), touched });
    this.#kept.delete(question.id);
    this.#kept.set(question.id, { untilMs: now + keptMs, counted });
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > pollsMax && oldest !== undefined) this.#kept.delete(oldest);
    counted.catch(() => this.#kept.delete(question.id));
    return counted;
  }
}

/** A chart of when people voted, for those who may see the results. */
export function votesOverTimePage(
  visit: PageVisit,
  view: PollView,
  counted: VotesOverTime | undefined,
): string {
  const { question } = view;
  const back = linkButton(pathOf(pageRoutes.results, question.id), 'Back to the results');
  return layout(frameOf(visit), {
    ...headOf(view),
    title: `Votes over time: ${question.question_text}`,
    modules: ['keep.js'],
    actions: back,
    main: beside(
      visit,
      view,
      counted
        ? card(`Votes by ${spanName(counted.spanMs)} (UTC)`, timeChart(counted))
        : empty({
            icon: 'chart',
            title: 'No votes yet',
            text: 'Once there are votes, this page shows when they came in.',
          }),
    ),
  });
}

/** The spans are the shortest ones that give at most 40. */
async function countByTime(
  database: Database<Tables>,
  { ids, touched }: { ids: readonly number[]; touched: number },
): Promise<VotesOverTime | undefined> {
  if (ids.length === 0) return undefined;
  const ends = await database.kysely
    .selectFrom('choice')
    .where('id', 'in', ids)
    .select((e) => [
      e
        .selectFrom('vote')
        .whereRef('choice', '=', 'choice.id')
        .select((v) => v.fn.min('created_at_ms').as('at'))
        .as('first'),
      e
        .selectFrom('vote')
        .whereRef('choice', '=', 'choice.id')
        .select((v) => v.fn.max('created_at_ms').as('at'))
        .as('last'),
    ])
    .execute();
  const times = ends.flatMap(({ first, last }) => [first, last]).filter((at) => at !== null);
  if (times.length === 0) return undefined;
  const [first, last] = [Math.min(...times), Math.max(...times)];
  const spanMs =
    spansMs.find((ms) => Math.floor(last / ms) - Math.floor(first / ms) < columnsMax) ??
    (spansMs.at(-1) as number);
  const start = Math.floor(first / spanMs);
  const query = sql<{
    span: number;
    votes: number;
  }>`SELECT created_at_ms / ${sql.lit(spanMs)} AS span, count(*) AS votes
    FROM vote WHERE choice IN (${sql.join(ids)}) GROUP BY 1`;
  const rows = await scan(query, { database, session: database, touched });
  const bySpan = new Map(rows.map(({ span, votes }) => [span, votes]));
  const length = Math.floor(last / spanMs) - start + 1;
  return {
    startMs: start * spanMs,
    spanMs,
    votes: Array.from({ length }, (_, index) => bySpan.get(start + index) ?? 0),
  };
}

function timeChart({ startMs, spanMs, votes }: VotesOverTime) {
  const format = (spanMs < dayMs ? timeFormat : dayFormat)(readerLocale() ?? 'en-US');
  const points = votes.map((value, index) => ({
    label: format.format(startMs + index * spanMs),
    value,
    text: count(value, 'vote'),
  }));
  const step = Math.max(1, Math.ceil(points.length / ticksMax));
  return html`${columnChart({
    caption: `Votes by ${spanName(spanMs)}, UTC`,
    heads: ['From', 'Votes'],
    points,
    ticks: points.map((_, index) => index).filter((index) => index % step === 0),
  })}`;
}

function spanName(spanMs: number): string {
  const names = new Map([
    [minuteMs, 'minute'],
    [hourMs, 'hour'],
    [dayMs, 'day'],
    [7 * dayMs, 'week'],
  ]);
  const known = names.get(spanMs);
  if (known) return known;
  if (spanMs < hourMs) return `${spanMs / minuteMs} minutes`;
  return spanMs < dayMs ? `${spanMs / hourMs} hours` : `${spanMs / dayMs / 7} weeks`;
}

const dayFormat = kept(
  (locale) => new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'short', timeZone: 'UTC' }),
);
const timeFormat = kept(
  (locale) =>
    new Intl.DateTimeFormat(locale, {
      day: 'numeric',
      month: 'short',
      hour: '2-digit',
      minute: '2-digit',
      hourCycle: 'h23',
      timeZone: 'UTC',
    }),
);
