import { card, empty, linkButton, stats } from '#kit/html/blocks.ts';
import { barChart, lineChart, type Point } from '#kit/html/charts.ts';
import { count, formatNumber } from '#kit/html/format.ts';
import { type Html, html } from '#kit/html/html.ts';
import { type Frame, layout } from '#kit/html/layout.ts';
import type { PageRoutes } from '#kit/html/pages.ts';
import type { Client } from '#kit/rpc/index.ts';
import type { PostServiceDefinition } from '#proto/posts/v1/posts.ts';
import type { PageSession, Visitors } from '../access/index.ts';
import { pageRoutes } from '../routes.ts';
import { type AnalyticsResult, toAnalytics } from './analytics.ts';

interface Parts {
  readonly visitors: Visitors;
  readonly posts: Client<PostServiceDefinition>;
}

export function addAnalysisPage(routes: PageRoutes<PageSession>, { visitors, posts }: Parts): void {
  routes.get(pageRoutes.analysis, { access: visitors('post', 'read') }, async ({ may, call, frame }) => {
    const counted = await posts.getAnalytics({}, call);
    const { postsPerHour } = counted;
    return analysisPage(frame(), { analysis: toAnalytics(counted), postsPerHour, mayWrite: may.write });
  });
}

interface AnalysisView {
  readonly analysis: AnalyticsResult;
  /** Posts by the UTC hour of their creation, 24 numbers. */
  readonly postsPerHour: readonly number[];
  readonly mayWrite: boolean;
}

const usersMax = 19;

function analysisPage(frame: Frame, { analysis, postsPerHour, mayWrite }: AnalysisView): string {
  const { statistics } = analysis;
  const lead = 'Exact statistics of all posts, as of now.';
  if (analysis.totalPosts === 0) return layout(frame, { title: 'Analysis', lead, main: noPosts(mayWrite) });
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

function noPosts(mayWrite: boolean): Html {
  return empty({
    icon: 'chart',
    title: 'Nothing to analyze yet',
    text: 'Once there are posts, this page shows statistics of their characters, lengths, users and hours.',
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

/** A visible name: blank and invisible characters by name or number. */
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
