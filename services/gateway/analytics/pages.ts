import type { PostServiceDefinition } from '@octavo/protocols/posts/v1/posts';
import type { Client } from '@octavo/rpc';
import {
  barChart,
  card,
  count,
  empty,
  type Frame,
  formatNumber,
  type Html,
  html,
  layout,
  lineChart,
  linkButton,
  type Point,
  stats,
  viewLinks,
} from '@octavo/web/html';
import type { PageRoutes } from '@octavo/web/pages';
import type { PageSession, Visitors } from '../access/index.ts';
import { link, pageRoutes } from '../routes.ts';
import type { Usernames } from '../users/index.ts';
import { type AnalyticsResult, toAnalytics } from './analytics.ts';
import { type DailyCounts, dailyChart, spanOf, spans, toDailyCounts } from './days.ts';

interface Parts {
  readonly visitors: Visitors;
  readonly posts: Client<PostServiceDefinition>;
  readonly usernames: Usernames;
}

export function addAnalysisPage(
  routes: PageRoutes<PageSession>,
  { visitors, posts, usernames }: Parts,
): void {
  routes.get(
    pageRoutes.analysis,
    { access: visitors('post', 'read') },
    async ({ visit, may, call, frame }) => {
      const span = spanOf(visit.request.query);
      const [counted, byDay] = await Promise.all([
        posts.getAnalytics({}, call),
        posts.countPostsByDay({ days: span }, call),
      ]);
      const { postsPerHour } = counted;
      const analysis = toAnalytics(counted);
      const users = mostActive(analysis);
      const names = await usernames.of(
        users.map(({ uid }) => uid),
        call,
      );
      const daily = toDailyCounts(byDay);
      return analysisPage(frame(), { analysis, postsPerHour, daily, users, names, mayWrite: may.write });
    },
  );
}

interface AnalysisView {
  readonly analysis: AnalyticsResult;
  /** Posts by the UTC hour of their creation, 24 numbers. */
  readonly postsPerHour: readonly number[];
  /** Posts of each day of the span that was asked for. */
  readonly daily: DailyCounts;
  /** Users with the most posts. */
  readonly users: readonly UserPosts[];
  readonly names: ReadonlyMap<number, string>;
  readonly mayWrite: boolean;
}

interface UserPosts {
  readonly uid: number;
  readonly posts: number;
}

const usersMax = 19;

function analysisPage(frame: Frame, view: AnalysisView): string {
  const { analysis, postsPerHour, daily, mayWrite } = view;
  const { statistics } = analysis;
  const lead = 'Exact statistics of all posts, as of now.';
  if (analysis.totalPosts === 0) return layout(frame, { title: 'Analysis', lead, main: noPosts(mayWrite) });
  return layout(frame, {
    title: 'Analysis',
    lead,
    styles: ['charts.css'],
    actions: linkButton(pageRoutes.reanalyses, 'Reanalyses'),
    main: html`${stats([
      { label: 'Posts', value: formatNumber(analysis.totalPosts) },
      { label: 'Characters', value: formatNumber(analysis.totalCharacters) },
      { label: 'Unique characters', value: formatNumber(analysis.uniqueChars) },
      { label: 'Average length', value: formatNumber(statistics.averagePostLength, 1) },
      { label: 'Median length', value: formatNumber(statistics.medianPostLength) },
    ])}
<div class="stack">${card(
      'Posts by day and sentiment (UTC)',
      html`${viewLinks(
        'Show',
        Object.entries(spans).map(([days, label]) => ({
          href: link(pageRoutes.analysis, { days }),
          label,
          isCurrent: Number(days) === daily.days.length,
        })),
      )}${dailyChart(daily)}`,
    )}
<div class="columns">
${card(
  'Most frequent characters',
  barChart({
    caption: 'Most frequent characters',
    heads: ['Character', 'Count'],
    points: characterPoints(analysis),
  }),
)}
<div class="stack">${card('Posts per user', userChart(view))}
${card(
  'When posts are written, by hour (UTC)',
  lineChart({
    caption: 'Posts by hour of the day, UTC',
    heads: ['Hour', 'Posts'],
    points: postsPerHour.map((value, hour) => ({ label: `${String(hour).padStart(2, '0')}:00`, value })),
    ticks: [0, 6, 12, 18, 23],
  }),
)}</div>
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

function characterPoints({ topCharacters }: AnalyticsResult): Point[] {
  return topCharacters.map(({ character, count, frequency }) => ({
    label: nameOf(character),
    value: count,
    text: `${formatNumber(count)} (${formatNumber(frequency, 1)}%)`,
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

function mostActive({ statistics }: AnalyticsResult): UserPosts[] {
  return Object.entries(statistics.postsPerUser)
    .map(([uid, posts]) => ({ uid: Number(uid), posts }))
    .sort((one, other) => other.posts - one.posts)
    .slice(0, usersMax);
}

function userChart({ analysis, users, names }: AnalysisView): Html {
  const points = users.map(({ uid, posts }) => ({ label: names.get(uid) ?? `User ${uid}`, value: posts }));
  const others = Object.keys(analysis.statistics.postsPerUser).length - users.length;
  const rest = analysis.totalPosts - users.reduce((sum, { posts }) => sum + posts, 0);
  return html`${barChart({ caption: 'Posts per user', heads: ['User', 'Posts'], points })}
${others > 0 && html`<p class="muted">And ${count(others, 'other user')} with ${count(rest, 'post')}.</p>`}`;
}
