/**
 * Makes the models of retrieval: the reranker, the judge of whether there is an answer, and the choice of sentences. Each is also
 * learned without the set that it is measured on, so that what is printed and what `proof/bench/chat.ts` shows is what other documents can expect;
 * the shipped weights are learned on all sets. Run it with `npm run train:retrieval -- FOLDER`, which has the sets as folders. The judge of the
 * quoted place also learns from Debian packages, which are downloaded to `--packages`; `--place` learns only that judge.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { judgeFeatureNames, judgeFeatureSigns, sentenceFeatureNames } from '@octavo/reader/models';
import { readLabelledSet } from '../../services/chat/evaluation/index.ts';
import { meanScores, scoresOf } from '../../services/chat/evaluation/metrics.ts';
import { confidenceFeatureNames } from '../../services/chat/retrieval/ranking/confidence.ts';
import { featureNames } from '../../services/chat/retrieval/ranking/reranker-features.ts';
import { type Corpus, indexCorpus, openCorpus, sample } from './corpus.ts';
import { judgments, type RankingExample, rankingExamples, sentenceExamples, verdicts } from './examples.ts';
import {
  dot,
  type Example,
  type Judgment,
  learnBias,
  learnLikelihood,
  learnRanking,
  learnVerdicts,
  type Verdict,
} from './learn.ts';
import { nearMisses } from './near-misses.ts';
import { realJudgments } from './real.ts';
import { syntheticSet } from './synthetic.ts';

const names = ['cranfield', 'cookdocs', 'squad20_dev'];
const rankingMax = 750;
const verdictsMax = 250;
const judgedMax = 400;
/** Shift of the judges towards refusing. One that was learned on two sets is surer of itself than it should be. */
const strictness = { shipped: 0, fold: 1.6 };
/** Weight of questions of each kind for the judge of the place that is quoted, beside those of `real.ts`. */
const kinds = { own: 3, near: 0.7, unanswerable: 0.1, foreign: 0.3, others: 0.3 };
const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    packages: { type: 'string', default: join(tmpdir(), 'octavo-packages') },
    place: { type: 'boolean', default: false },
  },
});
const folder = positionals[0] ?? '';
const corpora = new Map<string, Corpus>();
for (const name of names) corpora.set(name, await openCorpus(folder, name));
const of = (name: string) => corpora.get(name)!;

const rankings = new Map<string, RankingExample[]>();
const synthetic = new Map<string, RankingExample[]>();
const files = {
  reranker: new URL('../../services/chat/retrieval/reranker.json', import.meta.url),
  sentences: new URL('../../packages/reader/answers/sentence-model.json', import.meta.url),
  held: new URL('folds.json', import.meta.url),
};
const kept = () => ({ ...readJson(files.held), shipped: readJson(files.sentences).weights });
const { shipped, ...learned } = values.place ? kept() : await learnAllButPlace();
const place = await learnPlaceJudge();
writeJson(files.sentences, { weights: shipped, judge: place.shipped });
writeJson(files.held, { ...learned, place: place.halves });
for (const corpus of corpora.values()) await corpus[Symbol.asyncDispose]();

async function learnAllButPlace() {
  for (const name of names) {
    rankings.set(name, await rankingExamples(of(name), sample(of(name).questions, rankingMax)));
    const { documents = [] } = await readLabelledSet(join(folder, name));
    await using made = await indexCorpus(name, syntheticSet(documents));
    synthetic.set(name, await rankingExamples(made, made.questions));
  }
  const folds: Record<string, number[]> = {};
  for (const held of names) {
    folds[held] = learnReranker(names.filter((name) => name !== held));
    print(`${held} by a reranker of the others`, rankings.get(held)!, folds[held]);
  }
  const reranker = learnReranker(names);
  for (const name of names) print(`${name} by the shipped reranker`, rankings.get(name)!, reranker);
  describe([...featureNames, 'bias'], reranker);
  const sentences = await learnSentences(folds.squad20_dev!);
  const judges = await learnJudges(reranker);
  writeJson(files.reranker, { reranker, confidence: judges.shipped });
  return {
    reranker: folds,
    sentences: sentences.halves,
    confidence: judges.folds,
    shipped: sentences.shipped,
  };
}

function readJson(file: URL) {
  return JSON.parse(readFileSync(file, 'utf8'));
}

function writeJson(file: URL, content: object): void {
  writeFileSync(file, `${JSON.stringify(content)}\n`);
}

/** From the questions of sets, and from those that their documents ask themselves. */
function learnReranker(of: readonly string[]): number[] {
  const sets = of.flatMap((name) => [rankings.get(name)!, synthetic.get(name)!]);
  const weights = learnRanking(sets, { size: featureNames.length, lower: featureNames.map(() => 0) });
  return rounded([...weights, learnBias(sets, weights)]);
}

/** Questions of one half of the articles are answered by what was learned on the other half. */
async function learnSentences(weights: number[]) {
  const questions = of('squad20_dev').questions;
  const middle = questions.length / 2;
  const halves: Example[][] = [];
  for (const half of [questions.slice(0, middle), questions.slice(middle)])
    halves.push(await sentenceExamples(of('squad20_dev'), half, weights));
  // The set has neither headings nor lists to learn that they say little.
  const lower = sentenceFeatureNames.map((name) => (name === 'isSentence' ? 0.4 : -Infinity));
  const options = { size: sentenceFeatureNames.length, lower, isOneEnough: true };
  const [first = [], second = []] = halves;
  const learned = [learnRanking([second], options), learnRanking([first], options)];
  const right = halves.map(
    (half, index) => half.filter((example) => isRight(example, learned[index]!)).length,
  );
  const share = (right[0]! + right[1]!) / (first.length + second.length);
  log(`the first sentence holds the answer: ${share.toFixed(4)}`);
  const shipped = rounded(learnRanking([[...first, ...second]], options));
  describe(sentenceFeatureNames, shipped);
  return { halves: learned.map(rounded), shipped };
}

function isRight({ features, grades }: Example, weights: ArrayLike<number>): boolean {
  const scores = features.map((each) => dot(weights, each));
  return grades[scores.indexOf(Math.max(...scores))] === 1;
}

/** A set's own questions are answered, those of the other sets are not. */
async function learnJudges(reranker: number[]) {
  const asked: { name: string; of: string; verdicts: Verdict[] }[] = [];
  for (const name of names) {
    for (const own of names) {
      const questions = sample(of(own).questions, verdictsMax);
      const isAnswered = own === name;
      asked.push({
        name: own,
        of: name,
        verdicts: await verdicts(of(name), { questions, isAnswered }, reranker),
      });
    }
  }
  const learn = (parts: typeof asked, shift: number) => {
    const weights = learnVerdicts(
      parts.flatMap((part) => part.verdicts),
      confidenceFeatureNames.length,
    );
    weights[confidenceFeatureNames.length]! -= shift;
    return rounded(weights);
  };
  const shipped = learn(asked, strictness.shipped);
  const folds: Record<string, number[]> = {};
  for (const held of names)
    folds[held] = learn(
      asked.filter(({ name, of }) => name !== held && of !== held),
      strictness.fold,
    );
  for (const { name, of, verdicts } of asked) {
    const refused = (weights: number[]) =>
      verdicts.filter(({ features }) => dot(weights, features) + weights.at(-1)! < 0).length /
      verdicts.length;
    const without = refused(folds[of]!).toFixed(3);
    log(`${name} asked of ${of}: refused ${refused(shipped).toFixed(3)}, without this set ${without}`);
  }
  describe([...confidenceFeatureNames, 'bias'], shipped);
  return { shipped, folds };
}

/** Questions of one half of SQuAD are judged by what was learned on the other half, and on the other sets. */
async function learnPlaceJudge() {
  const squad = of('squad20_dev');
  const none = (texts: readonly string[], weight: number) =>
    texts.map((text) => ({ text, weight, isAnswer: () => false }));
  const textsOf = (questions: readonly { readonly text: string }[]) => questions.map(({ text }) => text);
  const questions = sample(squad.questions, judgedMax);
  const middle = questions.length / 2;
  const halves: Judgment[][] = [];
  for (const half of [questions.slice(0, middle), questions.slice(middle)]) {
    const own = half.map(({ id, text }) => ({
      text,
      weight: kinds.own,
      isAnswer: (quote: string) => (squad.answers.get(id) ?? []).some((answer) => quote.includes(answer)),
    }));
    const near = none(nearMisses(textsOf(half)), kinds.near);
    halves.push([...(await judgments(squad, own)), ...(await judgments(squad, near))]);
  }
  const unanswerable = sample(squad.unanswerable, judgedMax / 3);
  const others = [
    ...(await judgments(squad, none(textsOf(of('cranfield').questions), kinds.foreign))),
    ...(await judgments(squad, none(unanswerable, kinds.unanswerable))),
    ...(await realJudgments(values.packages)),
  ];
  for (const name of ['cranfield', 'cookdocs']) {
    const own = of(name).questions.map(({ text }) => ({
      text,
      weight: kinds.others,
      isAnswer: () => true,
    }));
    const strange = none(textsOf(sample(squad.questions, judgedMax / 6)), kinds.foreign);
    others.push(...(await judgments(of(name), own)), ...(await judgments(of(name), strange)));
  }
  const learn = (parts: readonly Judgment[]) =>
    rounded(learnLikelihood(parts, Object.values(judgeFeatureSigns)));
  const [first = [], second = []] = halves;
  const shipped = learn([...first, ...second, ...others]);
  describe([...judgeFeatureNames, 'bias'], shipped);
  return { shipped, halves: [learn([...second, ...others]), learn([...first, ...others])] };
}

function print(what: string, examples: readonly RankingExample[], weights: ArrayLike<number>): void {
  const scores = examples.map(({ features, documents, all }) => {
    const order = features.map((each, index) => [dot(weights, each), documents[index]!] as const);
    order.sort((one, other) => other[0] - one[0]);
    return scoresOf([...new Set(order.map(([, document]) => document))], all);
  });
  const { ndcgAt10, mrrAt3, recallAt10 } = meanScores(scores);
  log(`${what}: nDCG@10 ${ndcgAt10.toFixed(4)}, MRR@3 ${mrrAt3.toFixed(4)}, recall ${recallAt10.toFixed(4)}`);
}

function describe(features: readonly string[], weights: ArrayLike<number>): void {
  log(features.map((name, index) => `${name} ${weights[index]!.toFixed(2)}`).join(', '));
}

function rounded(weights: ArrayLike<number>): number[] {
  return Array.from(weights, (weight) => Math.round(weight * 10_000) / 10_000);
}

function log(line: string): void {
  process.stdout.write(`${line}\n`);
}
