/**
 * Analytics over a million posts by the stored statistics, beside a full count of the same posts.
 *
 *   node proof/bench/analytics.ts [calls]
 */
import { recountStatistics } from '../../services/posts/statistics/index.ts';
import { millionFolder, openMillion } from './million.ts';
import { quantile, startBenchPosts } from './posts-bench.ts';

const [calls = 200] = process.argv.slice(2).map(Number);
await (await openMillion())[Symbol.asyncDispose]();
await using posts = await startBenchPosts(millionFolder);
const times: number[] = [];
for (let call = 0; call < calls; call++) {
  const startedMs = performance.now();
  await posts.client.getAnalytics({});
  times.push(performance.now() - startedMs);
}
const { totalPosts, totalCharacters, uniqueCharacters } = await posts.client.getAnalytics({});
console.log(`${totalPosts} posts, ${totalCharacters} characters, ${uniqueCharacters} different ones`);
console.log(
  `stored statistics first ${times[0]?.toFixed(1)} ms, p50 ${quantile(times, 0.5).toFixed(1)} ms, p95 ${quantile(times, 0.95).toFixed(1)} ms`,
);
await using database = await openMillion();
const startedMs = performance.now();
const { agreed } = await recountStatistics(database);
console.log(
  `full count       ${Math.round(performance.now() - startedMs)} ms, ${agreed ? 'and it agrees' : 'BUT IT DIFFERS'}`,
);
