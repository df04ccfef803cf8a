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
import type { PageVisit, PollView } from '../pages-poll.ts';
import { beside, frameOf, headOf } from '../pages-views.ts';
import { pageRoutes, pathOf } from '../routes.ts';
import { dayMs, hourMs, minuteMs, type VotesOverTime } from './votes-over-time.ts';

const ticksMax = 4;

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
