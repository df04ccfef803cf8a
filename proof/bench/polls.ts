/**
 * The polls beside Django, Django REST Framework and Gunicorn (`lib/django.ts`) with the same questions: the list of the API, a page with
 * results, and votes on one question. One process of ours on SQLite, then on PostgreSQL; the peer has five on PostgreSQL. Rounds alternate;
 * the best of each counts, since the machine may have other work. Then the lines of the service.
 *
 *   node proof/bench/polls.ts [rounds] [seconds]
 */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { testFolder } from '@octavo/testing';
import { run as runAdmin } from '../../apps/octavo/commands/admin.ts';
import { startProcess, stopProcess } from '../../apps/octavo/testing.ts';
import { bests, report } from './lib/compare.ts';
import { createDatabase, startDjango } from './lib/django.ts';
import { type Load, offer } from './lib/load.ts';

const [rounds = 3, seconds = 4] = process.argv.slice(2).map(Number);
const questionCount = 20;
const password = 'ferries wait in fog';

const light = { ARGON2_MEMORY_KIB: '8', ARGON2_PASSES: '1', LOG_LEVEL: 'warn' };
await using stack = new AsyncDisposableStack();
const sqlite = await startPolls({ OCTAVO_DATA: testFolder('bench') });
const postgres = await startPolls({
  OCTAVO_DATA: testFolder('bench'),
  DATABASE_URL: await createDatabase('octavo_bench_polls'),
});
const peer = stack.use(await startDjango(await dataOf(sqlite)));

const targets = { 'on SQLite': sqlite, 'on PostgreSQL': postgres, Django: peer.url };
await compare('GET /api/questions/', (url) => ({ url: `${url}/api/questions/` }));
await compare('the page of results', (url) => ({
  url: `${url}/polls/1/results/`,
  headers: { accept: 'text/html' },
}));
await compare('votes, durable, 64 clients', (url) => ({
  url: `${url}/api/questions/1/vote/`,
  method: 'POST',
  body: JSON.stringify({ choice: 2 }),
}));
const { lines, code } = linesOf('services/polls');
console.log(`services/polls without tests: ${lines} lines, ${code} of them neither blank nor comments`);

async function compare(title: string, loadOf: (url: string) => Load): Promise<void> {
  const ways = Object.entries(targets).map(
    ([name, url]) => [name, () => rate({ ...loadOf(url), seconds })] as const,
  );
  const found = await bests(Object.fromEntries(ways), rounds);
  const django = found.Django ?? 0;
  report(`Polls: ${title}`, {
    'ours on SQLite': found['on SQLite'] ?? 0,
    'ours on PostgreSQL': found['on PostgreSQL'] ?? 0,
    'Django REST Framework on PostgreSQL': django,
  });
  const said = Object.entries(found).map(
    ([name, each]) => `${name} ${each.toFixed(0)}/s (${(each / django).toFixed(1)} times)`,
  );
  console.log(`${title}: ${said.join(', ')}`);
}

async function rate(load: Load): Promise<number> {
  const { perSecond, failures } = await offer(load);
  if (failures > 0) throw new Error(`${load.url}: ${failures} responses were no success`);
  return perSecond;
}

/** The service with its questions, each with four choices. */
async function startPolls(settings: Record<string, string>): Promise<string> {
  const environment = { ...light, ...settings };
  await runAdmin(['create', 'polls', 'alice'], { ...environment, ADMIN_PASSWORD: password });
  const { url, child } = await startProcess('polls', environment);
  stack.defer(() => stopProcess(child));
  const { token } = await send(`${url}/api/token/`, { username: 'alice', password });
  const authorization = `Token ${token}`;
  for (let number = 1; number <= questionCount; number++) {
    const question = {
      question_text: `Which of these four is number ${number}?`,
      pub_date: '2026-01-31T12:00:00Z',
    };
    const { id } = await send(`${url}/api/questions/`, question, authorization);
    for (const [index, choice_text] of ['The first', 'The second', 'The third', 'The fourth'].entries())
      await send(
        `${url}/api/choices/`,
        { question: id, choice_text, is_correct: index === 0 },
        authorization,
      );
  }
  return url;
}

/** Reads the peer's data from the API. */
async function dataOf(url: string) {
  const [questions, choices] = await Promise.all(
    ['questions', 'choices'].map(async (name) => (await fetch(`${url}/api/${name}/`)).json()),
  );
  return { questions, choices } as { questions: object[]; choices: object[] };
}

async function send(url: string, body: object, authorization?: string): Promise<Record<string, unknown>> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(authorization && { authorization }) },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(await response.text());
  return (await response.json()) as Record<string, unknown>;
}

function linesOf(folder: string): { lines: number; code: number } {
  const root = join(import.meta.dirname, '../..');
  const files = globSync(`${folder}/**/*.ts`, { cwd: root }).filter(
    (file) => !/(\.test|testing)\.ts$/.test(file),
  );
  const lines = files.flatMap((file) => readFileSync(join(root, file), 'utf8').trimEnd().split('\n'));
  return { lines: lines.length, code: lines.filter((line) => !/^\s*($|\/\/|\/\*|\*)/.test(line)).length };
}
