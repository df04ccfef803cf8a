/**
 * Pages of a million posts from the post backend by its client: by user, in each order, the first page and page 10,000, and
 * by search texts met in few and in most posts; how long the first request takes, and the 95th percentile of all. The text of a
 * search is another in each round, so that no cache of it helps.
 *
 *   node proof/bench/list.ts [rounds]
 */
import { type ListPostsRequest, PostSort } from '@octavo/protocols/posts/v1/posts';
import { givenNames, places, topics } from '../../services/posts/corpus-texts.ts';
import { millionFolder, openMillion } from './million.ts';
import { quantile, startBenchPosts } from './posts-bench.ts';

const [rounds = 40] = process.argv.slice(2).map(Number);
await (await openMillion())[Symbol.asyncDispose]();
await using posts = await startBenchPosts(millionFolder);
const sorts = {
  id: PostSort.POST_SORT_ID,
  title: PostSort.POST_SORT_TITLE,
  createdAt: PostSort.POST_SORT_CREATED_AT,
  updatedAt: PostSort.POST_SORT_UPDATED_AT,
};
const anySort = Object.values(sorts);
const rare = rareTerms();
const frequent = ['the', 'that', 'have', 'with', 'for', 'and', 'about', 'you', 'than', 'day'];
const short = ['e', 'th', 'q', 'zq', '7', 'in', '.', 'ő', '的', '🙂', '#', 'an'];
// Threads are started.
await page({ filter: { search: 'warm up' } });

for (const [name, sort] of Object.entries(sorts)) {
  for (const at of [1, 10_000]) await measure(`all by ${name}, page ${at}`, () => ({ sort, page: at }));
}
for (const [name, sort] of Object.entries(sorts)) {
  await measure(`one user by ${name}`, (round) => ({
    filter: { userId: 1 + round },
    sort,
    page: 1 + (round % 5),
  }));
}
await measure(
  'text met in under 10,000 posts',
  (round) => ({
    filter: { search: rare[round % rare.length] },
    sort: anySort[round % 4],
    page: 1 + ((round * 7) % 40),
  }),
  8,
);
await measure(
  'word in most posts',
  (round) => ({ filter: { search: frequent[round % frequent.length] }, sort: anySort[round % 4] }),
  3,
);
await measure(
  'one or two characters',
  (round) => ({ filter: { search: short[round % short.length] }, sort: anySort[round % 4] }),
  3,
);
await measure(
  'word in most posts, of one user',
  (round) => ({ filter: { search: frequent[round % frequent.length], userId: 1 + round } }),
  3,
);

async function measure(
  name: string,
  request: (round: number) => Partial<ListPostsRequest>,
  times = 1,
): Promise<void> {
  const taken: number[] = [];
  let total = 0;
  for (let round = 0; round < rounds * times; round++) {
    const startedMs = performance.now();
    const listed = await page(request(round));
    taken.push(performance.now() - startedMs);
    total = Math.max(total, listed.total);
  }
  const figures = [taken[0] as number, quantile(taken, 0.5), quantile(taken, 0.95), quantile(taken, 1)].map(
    (ms) => ms.toFixed(1).padStart(7),
  );
  console.log(
    `${name.padEnd(34)} first ${figures[0]} p50 ${figures[1]} p95 ${figures[2]} max ${figures[3]} ms, up to ${total} posts`,
  );
}

function page(request: Partial<ListPostsRequest>) {
  return posts.client.listPosts({
    filter: {},
    sort: sorts.id,
    descending: true,
    page: 1,
    pageSize: 20,
    ...request,
  });
}

/** A topic's thing with a place or a name, codes, and parts of words in other scripts. */
function rareTerms(): string[] {
  const nouns = topics.flatMap((topic) => topic.nouns.split('|'));
  const names = [...places.split('|'), ...givenNames.split('|')];
  const pairs = nouns
    .slice(0, 80)
    .map((noun, index) => `${noun} ${index % 2 ? 'in' : 'near'} ${names[index % names.length]}`.slice(0, 24));
  return pairs.flatMap((pair, index) => [
    pair,
    `-${10 + index}`,
    `${names[index % names.length]?.slice(0, 4)} ${nouns[index]?.slice(0, 3)}`,
    ['ΟΔΥΣ', '天气很好', '도와주', 'ყველას', 'Їжак'][index % 5] as string,
  ]);
}
