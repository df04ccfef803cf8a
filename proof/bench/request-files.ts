/**
 * Files of the product that one warm request runs through in the process of its service: those of which a function was called in each of
 * several requests, by V8's precise coverage. Worker threads are not counted.
 *
 *   node proof/bench/request-files.ts [--list]
 */
import { Session } from 'node:inspector/promises';
import { relative } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startTestSystem } from '../../apps/octavo/testing.ts';
import { startBudgets } from '../../services/budgets/testing.ts';
import { startChat } from '../../services/chat/testing.ts';
import { castOf } from '../../services/gateway/testing.ts';

const isListed = process.argv.includes('--list');
const warmups = 50;
const looks = 8;
const lookEveryMs = 130;
const root = new URL('../..', import.meta.url);

interface Answered {
  readonly status: number;
  readonly text: string;
}

await measurePosts();
await measureBudgets();
await measureChat();
// Some parsers are processes that end later.
process.exit(0);

async function measurePosts(): Promise<void> {
  await using system = await startTestSystem();
  const { alice } = await castOf(system);
  const created = await alice.post('/posts', { title: 'A title', body: 'A body of some length' });
  const { id } = created.json.data;
  await show('GET /api/v1/posts/{id}', () => alice.get(`/posts/${id}`));
}

async function measureBudgets(): Promise<void> {
  await using budgets = await startBudgets();
  const alice = await budgets.person();
  const { id } = await alice.create('/api/budgets', { name: 'Food', limit: 500 });
  const expense = { budgetId: id, description: 'Bread', amount: 4.2 };
  await show('POST /api/expenses', () => alice.post('/api/expenses', expense));
  const query = 'mutation ($input: ExpenseInput!) { addExpense(input: $input) { id amount } }';
  await show('GraphQL addExpense', () =>
    alice.post('/api/graphql', { query, variables: { input: expense } }),
  );
}

async function measureChat(): Promise<void> {
  await using chat = await startChat();
  const content = '# Handbook\n\nEverybody has 27 days of vacation in a year.\n';
  await chat.upload([{ name: 'handbook.md', content }]);
  const query = 'How many days of vacation do I have?';
  await show('POST /api/chat', () => chat.send('POST', '/api/chat', { query }));
}

async function show(name: string, request: () => Promise<Answered>): Promise<void> {
  for (let i = 0; i < warmups; i++) await answered(request);
  // Work behind the requests, such as events, comes to rest.
  await delay(1_000);
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  let files = await filesOf(session, request);
  for (let i = 1; i < looks; i++) {
    await delay(lookEveryMs);
    const others = await filesOf(session, request);
    files = files.intersection(others);
  }
  await session.post('Profiler.stopPreciseCoverage');
  session.disconnect();
  console.log(`${name.padEnd(28)} ${files.size} files`);
  if (isListed)
    console.log(
      [...files]
        .sort()
        .map((file) => `  ${file}`)
        .join('\n'),
    );
}

async function filesOf(session: Session, request: () => Promise<Answered>): Promise<Set<string>> {
  await session.post('Profiler.takePreciseCoverage');
  await answered(request);
  const { result } = await session.post('Profiler.takePreciseCoverage');
  const files = result
    .filter(({ functions }) => functions.some(({ ranges: [range] }) => (range?.count ?? 0) > 0))
    .map(({ url }) => (url.startsWith(root.href) ? relative(root.pathname, new URL(url).pathname) : ''));
  return new Set(files.filter((file) => /^(packages|services)\//.test(file) && !file.includes('testing')));
}

async function answered(request: () => Promise<Answered>): Promise<void> {
  const { status, text } = await request();
  if (status >= 300) throw new Error(text);
}
