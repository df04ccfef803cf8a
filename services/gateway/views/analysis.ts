import { card, empty, linkButton, stats } from '#kit/html/blocks.ts';
import { barChart, lineChart, type Point } from '#kit/html/charts.ts';
import { count, formatNumber } from '#kit/html/format.ts';
import { type Html, html } from '#kit/html/html.ts';
import { type Frame, layout } from '#kit/html/layout.ts';
import type { AnalyticsResult } from '../analytics.ts';
import { pageRoutes } from '../page-routes.ts';

export interface AnalysisView {
  readonly analysis: AnalyticsResult;
  /** Posts by UTC hour of their creation, 24 of them. */
  readonly postsPerHour: readonly number[];
  readonly mayWrite: boolean;
}

const usersMax = 19;

export function analysisPage(frame: Frame, { analysis, postsPerHour, mayWrite }: AnalysisView): string {
  const { statistics } = analysis;
  const lead = 'Exact figures over all posts, as of now.';
  if (analysis.totalPosts === 0) return layout(frame, { title: 'Analysis', lead, main: nothing(mayWrite) });
  return layout(frame, {
    title: 'Analysis',
    lead,
    actions: linkButton(pageRoutes.reanalyses, 'Reanalyses'),
    main: html`${stats([
      { label: 'Posts', value: formatNumber(analysis.totalPosts) },
      { label: 'Characters', value: formatNumber(analysis.totalCharacters) },
      { label: 'Different characters', value: formatNumber(analysis.uniqueChars) },
      { label: 'Average length', value: formatNumber(statistics.averagePostLength, 1) },
      { label: 'Median length', value: formatNumber(statistics.medianPostLength) },
    ])}
<div class="stack"><div class="beside">${card(
      'When posts are written, by hour (UTC)',
      lineChart({
        caption: 'Posts by hour of the day, UTC',
        heads: ['Hour', 'Posts'],
        points: postsPerHour.map((value, hour) => ({ label: `${String(hour).padStart(2, '0')}:00`, value })),
        ticks: [0, 6, 12, 18, 23],
      }),
    )}
${card(
  'Part of the day (UTC)',
  barChart({
    caption: 'Posts by part of the day, UTC',
    heads: ['Part of the day', 'Posts'],
    points: dayParts(statistics.timeDistribution),
  }),
)}</div>
<div class="columns">
${card(
  'Most frequent characters',
  barChart({
    caption: 'Most frequent characters',
    heads: ['Character', 'Count'],
    points: characterPoints(analysis),
  }),
)}
${card('Posts per user', userChart(statistics.postsPerUser))}
</div></div>`,
  });
}

function nothing(mayWrite: boolean): Html {
  return empty({
    icon: 'chart',
    title: 'Nothing to analyse yet',
    text: 'Once there are posts, their characters, lengths, users and hours are counted here.',
    actions: mayWrite ? linkButton(pageRoutes.importPosts, 'Import posts', 'primary') : undefined,
  });
}

function dayParts(distribution: AnalyticsResult['statistics']['timeDistribution']): Point[] {
  const hours = { night: '00–05', morning: '06–11', afternoon: '12–17', evening: '18–23' };
  return Object.entries(hours).map(([part, span]) => ({
    label: `${part[0]?.toUpperCase()}${part.slice(1)} ${span}`,
    value: distribution[part] ?? 0,
  }));
}

function characterPoints({ topCharacters }: AnalyticsResult): Point[] {
  return topCharacters.map(({ character, count, frequency }) => ({
    label: nameOf(character),
    value: count,
    text: `${formatNumber(count)} (${formatNumber(frequency, 1)} %)`,
  }));
}

/** A character as it can be seen: blank and invisible ones by name or number. */
function nameOf(character: string): string {
  const names: Record<string, string> = { ' ': 'space', '\n': 'line break', '\r': 'return', '\t': 'tab' };
  const name = names[character];
  if (name) return name;
  if (!/[\p{White_Space}\p{C}\p{M}\p{Default_Ignorable_Code_Point}]/u.test(character)) return character;
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}

function userChart(postsPerUser: Readonly<Record<string, number>>): Html {
  const users = Object.entries(postsPerUser).sort(([, one], [, other]) => other - one);
  const points = users.slice(0, usersMax).map(([user, value]) => ({ label: `User ${user}`, value }));
  const others = users.slice(usersMax);
  const rest = others.reduce((sum, [, value]) => sum + value, 0);
  return html`${barChart({ caption: 'Posts per user', heads: ['User', 'Posts'], points })}
${rest > 0 && html`<p class="muted">And ${count(others.length, 'other user')} with ${count(rest, 'post')}.</p>`}`;
}
