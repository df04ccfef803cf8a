/**
 * The shipped sentiment model on one core: how long loading takes, short texts a second, and the longest post; beside
 * VADER on the same texts. Then the same through the worker thread, in batches and one by one; and a gateway that reads a post
 * while its classifier is kept busy by short texts, and by the longest. The texts are the prose of the model's own tests,
 * sentence by sentence.
 *
 *   node proof/bench/sentiment.ts [seconds] [alone]
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { loadModel, shippedWeights } from '../../services/posts/sentiment/model/model.ts';
import { ThreadClassifier } from '../../services/posts/sentiment/thread-classifier.ts';
import { report } from './lib/compare.ts';
import { startGateway } from './lib/gateway.ts';
import { type LoadReport, offer } from './lib/load.ts';

const { SentimentIntensityAnalyzer: vader } = createRequire(import.meta.url)('vader-sentiment') as {
  SentimentIntensityAnalyzer: { polarity_scores(text: string): { compound: number } };
};

const seconds = Number(process.argv[2] ?? 3);
const prose = readFileSync(new URL('prose.tsv', shippedWeights), 'utf8').trimEnd().split('\n');
const paragraphs = prose.map((line) => line.split('\t')[1] ?? '');
const sentences = paragraphs.flatMap((text) => text.split(/(?<=[.!?]) /));

const start = performance.now();
const model = loadModel();
console.log(`loaded in ${Math.round(performance.now() - start)} ms`);
const own = perSecond((text) => model.classify(text));
const peer = perSecond((text) => vader.polarity_scores(text));
console.log(`ours  ${own} texts/s`);
console.log(`VADER ${peer} texts/s`);
report('Posts: sentiment of short texts, CPU time of one core', { ours: own, 'vader-sentiment': peer });
const post = paragraphs.join(' ').slice(0, 10_000);
console.log(
  `${(1e6 / perSecond(() => model.classify(post))).toFixed(0)} µs for a post of ${post.length} characters`,
);
if (process.argv[3] !== 'alone') {
  await throughThread();
  await besideOthers();
}

/** Time of day, since two threads work. */
async function throughThread(): Promise<void> {
  await using classifier = new ThreadClassifier();
  const texts = Array.from({ length: 1_000 }, (_, index) => sentences[index % sentences.length] ?? '');
  await classifier.classify(texts);
  const batches = await rounds(() => classifier.classify(texts));
  const singles = await rounds(() => Promise.all(texts.map((text) => classifier.classify([text]))));
  console.log(`thread: ${batches} texts/s in batches of 1,000, ${singles} one by one from 1,000 callers`);

  async function rounds(work: () => Promise<unknown>): Promise<number> {
    const startedMs = performance.now();
    let done = 0;
    for (; performance.now() - startedMs < seconds * 1_000; done += texts.length) await work();
    return Math.round((done * 1_000) / (performance.now() - startedMs));
  }
}

async function besideOthers(): Promise<void> {
  await using gateway = await startGateway('one', undefined, { OBJECT_STORE: 'off', LOG_LEVEL: 'fatal' });
  const { headers } = gateway;
  const api = `${gateway.url}/api/v1`;
  const created = await fetch(`${api}/posts`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ title: 'Fog', body: 'The ferries wait.' }),
  });
  const { data } = (await created.json()) as { data: { id: number } };
  const reading = { url: `${api}/posts/${data.id}`, headers, connections: 2, seconds };
  await offer({ ...reading, seconds: 1 });
  tell('reading a post, alone', await offer(reading));
  const classifying = { url: `${api}/ml/sentiment`, method: 'POST', headers, connections: 16, seconds };
  for (const [name, text] of Object.entries({ short: sentences[0] ?? '', long: post })) {
    const body = JSON.stringify({ text });
    const [others, own] = await Promise.all([offer(reading), offer({ ...classifying, body })]);
    tell(`reading a post, beside ${name} texts`, others);
    tell(`classifying ${name} texts`, own);
  }
}

function tell(what: string, { perSecond, p50Ms, p99Ms, failures }: LoadReport): void {
  const rate = `${Math.round(perSecond)} requests/s`;
  console.log(`${what}: ${rate}, p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms, ${failures} failed`);
}

/** Processor time, not time of day: other work on the machine does not count. */
function perSecond(classify: (text: string) => unknown): number {
  for (const text of sentences) classify(text);
  const before = process.cpuUsage();
  let done = 0;
  while (process.cpuUsage(before).user < seconds * 1e6)
    for (let index = 0; index < sentences.length; index++, done++) classify(sentences[index] ?? '');
  return Math.round((done / process.cpuUsage(before).user) * 1e6);
}
