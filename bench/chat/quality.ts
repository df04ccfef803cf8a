import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { bestSentences } from '../../services/chat/answers/index.ts';
import { readLabelledSet } from '../../services/chat/evaluation/index.ts';
import { meanScores, scoresOf } from '../../services/chat/evaluation/metrics.ts';
import { confidenceOf, judge } from '../../services/chat/retrieval/rerank.ts';
import { type Corpus, openCorpus, sample } from '../../training/retrieval/corpus.ts';
import { fts5, miniSearch, orama, type Peer } from './peers.ts';

interface Folds {
  readonly reranker: Readonly<Record<string, number[]>>;
  readonly sentences: readonly [number[], number[]];
  readonly confidence: Readonly<Record<string, number[]>>;
}

/** What was learned without the set that is measured. */
const folds = JSON.parse(
  readFileSync(new URL('../../training/retrieval/folds.json', import.meta.url), 'utf8'),
) as Folds;
const names = ['cranfield', 'cookdocs', 'squad20_dev'] as const;

/** Rankings beside peers; what the models never saw is what they are measured on. On SQLite, or on the PostgreSQL database at `url`. */
export async function measureQuality(folder: string, questionsMax: number, url?: string): Promise<void> {
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
  const judged = judge(candidates, evidence, weights).sort((one, other) => other.score - one.score);
  return [...new Set(judged.map(({ read }) => read.passage.filename))];
}

/** Whether the first sentence holds the answer, and whether foreign questions are refused, on SQuAD. */
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
  for (const [label, weights] of [
    ['learned without SQuAD', folds.confidence.squad20_dev],
    ['shipped', undefined],
  ] as const) {
    const refused = async (questions: readonly { text: string }[]) => {
      let count = 0;
      for (const { text } of questions) {
        const { candidates, evidence } = await squad.retriever.gather(ask(squad, text));
        const judged = judge(candidates, evidence).sort((one, other) => other.score - one.score);
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

function ask({ library }: Corpus, query: string) {
  return { query, strategy: 'hybrid', topK: 5, rerank: true, libraries: [library] } as const;
}

function percent(part: number, whole: number): string {
  return `${((100 * part) / whole).toFixed(1)} %`;
}
