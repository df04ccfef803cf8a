import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { silentLog } from '@octavo/core/log';
import { Encoder } from '@octavo/encoder';
import { extractiveAnswer } from '@octavo/reader';
import { bestSentences } from '@octavo/reader/models';
import { readLabelledSet } from '../../../services/chat/evaluation/index.ts';
import { meanScores, scoresOf } from '../../../services/chat/evaluation/metrics.ts';
import { confidenceOf, rerank } from '../../../services/chat/retrieval/ranking/rerank.ts';
import { type Corpus, openCorpus, sample } from '../../../training/retrieval/corpus.ts';
import { nearMisses } from '../../../training/retrieval/near-misses.ts';
import { withEncoder } from './encoder.ts';
import { fts5, miniSearch, orama, type Peer } from './peers.ts';

interface Folds {
  readonly reranker: Readonly<Record<string, number[]>>;
  readonly sentences: readonly [number[], number[]];
  readonly confidence: Readonly<Record<string, number[]>>;
  /** Judges of the place that is quoted, each learned on the other half of SQuAD. */
  readonly place: readonly [number[], number[]];
}

/** Weights learned without the set that is measured. */
const folds = JSON.parse(
  readFileSync(new URL('../../../training/retrieval/folds.json', import.meta.url), 'utf8'),
) as Folds;
const names = ['cranfield', 'cookdocs', 'squad20_dev'] as const;

/** Rankings beside peers; what the models never saw is what they are measured on. On SQLite, or on the PostgreSQL database at `url`. */
export async function measureQuality(
  folder: string,
  questionsMax: number,
  { url, hasEncoder }: { url?: string | undefined; hasEncoder: boolean },
): Promise<void> {
  await using encoder = new Encoder({ log: silentLog });
  for (const name of names) {
    const { documents = [] } = await readLabelledSet(join(folder, name));
    await using corpus = await openCorpus(folder, name, url);
    const peers: [string, Peer][] = [
      ['FTS5', fts5(documents)],
      ['MiniSearch', miniSearch(documents)],
      ['Orama', await orama(documents)],
      ['hybrid, not reranked', (text) => rankedBy(corpus, text, undefined)],
      ['hybrid, reranker of the other sets', (text) => rankedBy(corpus, text, folds.reranker[name])],
      ['hybrid, shipped reranker', (text) => rankedBy(corpus, text, 'shipped')],
    ];
    if (hasEncoder) {
      const encoded = await withEncoder(corpus, encoder);
      peers.push(['hybrid, with the encoder', (text) => rankedBy(encoded, text, 'shipped')]);
    }
    for (const [peer, rank] of peers) {
      const scores = [];
      for (const { text, grades } of sample(corpus.questions, questionsMax))
        scores.push(scoresOf(await rank(text), grades));
      const { ndcgAt10, mrrAt3, recallAt10 } = meanScores(scores);
      const cells = [ndcgAt10, mrrAt3, recallAt10].map((score) => score.toFixed(4)).join('  ');
      console.log(`${name.padEnd(12)} ${peer.padEnd(36)} nDCG@10, MRR@3, recall: ${cells}`);
    }
  }
}

async function rankedBy(
  { retriever, library }: Corpus,
  query: string,
  weights: number[] | 'shipped' | undefined,
): Promise<string[]> {
  const request = {
    query,
    strategy: 'hybrid',
    topK: 50,
    rerank: weights !== undefined,
    libraries: [library],
  } as const;
  if (weights === undefined || weights === 'shipped') {
    const { ranked } = await retriever.search(request);
    return [...new Set(ranked.map(({ source }) => source.source))];
  }
  const { candidates, evidence } = await retriever.gather(request);
  const judged = rerank(candidates, evidence, weights).sort((one, other) => other.score - one.score);
  return [...new Set(judged.map(({ read }) => read.passage.filename))];
}

/** Measures how often the first sentence holds the answer, and foreign questions are refused, on SQuAD. */
export async function measureAnswers(folder: string, questionsMax: number): Promise<void> {
  await using squad = await openCorpus(folder, 'squad20_dev');
  const foreign = (await readLabelledSet(join(folder, 'cranfield'))).questions;
  const middle = squad.questions.length / 2;
  let [right, asked] = [0, 0];
  for (const [index, question] of squad.questions.entries()) {
    if (index % Math.ceil(squad.questions.length / questionsMax) !== 0) continue;
    const found = await squad.retriever.search({ ...ask(squad, question.text), topK: 5 });
    const [best] = bestSentences(found, folds.sentences[index < middle ? 0 : 1]);
    asked++;
    if ((squad.answers.get(question.id) ?? []).some((answer) => best?.text.includes(answer))) right++;
  }
  console.log(`SQuAD: the first sentence holds the answer to ${percent(right, asked)} of ${asked} questions`);
  await measureQuotes(squad, foreign);
  for (const [label, weights] of [
    ['learned without SQuAD', folds.confidence.squad20_dev],
    ['shipped', undefined],
  ] as const) {
    const refused = async (questions: readonly { text: string }[]) => {
      let count = 0;
      for (const { text } of questions) {
        const { candidates, evidence } = await squad.retriever.gather(ask(squad, text));
        const judged = rerank(candidates, evidence).sort((one, other) => other.score - one.score);
        if (confidenceOf(judged, evidence, weights) < 0.5) count++;
      }
      return percent(count, questions.length);
    };
    const own = sample(squad.questions, 600);
    console.log(
      `judge ${label}: refused ${await refused(foreign)} of cranfield's questions, ${await refused(own)} of its own`,
    );
  }
}

const quotesMax = 1_500;

/** Measures whole answers: how often the quotes hold the answer, and what is refused in the end, near misses among it. */
async function measureQuotes(squad: Corpus, foreign: readonly { readonly text: string }[]): Promise<void> {
  const own = sample(squad.questions, quotesMax);
  const answerTo = async (text: string, judge: readonly number[]) => {
    const found = await squad.retriever.search({ ...ask(squad, text), topK: 10 });
    return extractiveAnswer(found, { sourcesMax: 5, judge }).answer;
  };
  let [right, refused] = [0, 0];
  for (const [index, { id, text }] of own.entries()) {
    const { abstained, citations } = await answerTo(text, folds.place[index < own.length / 2 ? 0 : 1]);
    if (abstained) refused++;
    const quotes = citations.flatMap((each) => (each.kind === 'document' ? each.quote : []));
    if ((squad.answers.get(id) ?? []).some((answer) => quotes.some((quote) => quote.includes(answer))))
      right++;
  }
  console.log(
    `SQuAD, whole answers: ${percent(right, own.length)} of ${own.length} have the answer, ${percent(refused, own.length)} are refused`,
  );
  const near = nearMisses(own.map(({ text }) => text));
  for (const [label, texts] of [
    ['near misses', near],
    ['questions without an answer', sample(squad.unanswerable, quotesMax / 2)],
    ["cranfield's questions", foreign.map(({ text }) => text)],
  ] as const) {
    let count = 0;
    for (const [index, text] of texts.entries())
      if ((await answerTo(text, folds.place[index < texts.length / 2 ? 0 : 1])).abstained) count++;
    console.log(`${label}: ${percent(count, texts.length)} of ${texts.length} refused`);
  }
}

function ask({ library }: Corpus, query: string) {
  return { query, strategy: 'hybrid', topK: 5, rerank: true, libraries: [library] } as const;
}

function percent(part: number, whole: number): string {
  return `${((100 * part) / whole).toFixed(1)} %`;
}
