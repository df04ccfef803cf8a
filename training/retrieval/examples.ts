import { judgeInput, sentenceCandidates } from '@octavo/reader/models';
import { confidenceInput, rerank, type Weights } from '../../services/chat/retrieval/ranking/rerank.ts';
import type { Corpus } from './corpus.ts';
import type { Example, Judgment, Verdict } from './learn.ts';

/** An example with the documents of its candidates, and all that are relevant. */
export interface RankingExample extends Example {
  readonly documents: readonly string[];
  readonly all: ReadonlyMap<string, number>;
}

type Asked = Corpus['questions'][number];

async function gather({ retriever, library }: Corpus, query: string) {
  const request = { query, strategy: 'hybrid', topK: 5, rerank: true, libraries: [library] } as const;
  return retriever.gather(request);
}

/** Makes the reranker's training examples: the features of what each question finds. */
export async function rankingExamples(
  corpus: Corpus,
  questions: readonly Asked[],
): Promise<RankingExample[]> {
  const examples: RankingExample[] = [];
  for (const { text, grades } of questions) {
    const { candidates, evidence } = await gather(corpus, text);
    const judged = rerank(candidates, evidence);
    examples.push({
      features: judged.map(({ features }) => features),
      grades: judged.map(({ read }) => Math.max(0, grades.get(read.passage.filename) ?? 0)),
      groups: judged.map(({ read }) => read.passage.document),
      documents: judged.map(({ read }) => read.passage.filename),
      all: grades,
    });
  }
  return examples;
}

/** Makes the training examples for sentences: those of the first passages that hold an answer. */
export async function sentenceExamples(
  corpus: Corpus,
  questions: readonly Asked[],
  weights: Weights,
): Promise<Example[]> {
  const examples: Example[] = [];
  for (const { id, text } of questions) {
    const gold = corpus.answers.get(id) ?? [];
    const { candidates, evidence } = await gather(corpus, text);
    const judged = rerank(candidates, evidence, weights).sort((one, other) => other.score - one.score);
    const passages = judged.slice(0, 5).map(({ read, score }) => ({ passage: read.passage, score }));
    const sentences = sentenceCandidates(passages, evidence).flat();
    examples.push({
      features: sentences.map(({ features }) => features),
      grades: sentences.map((sentence) => (gold.some((answer) => sentence.text.includes(answer)) ? 1 : 0)),
      groups: sentences.map((_, index) => index),
    });
  }
  return examples;
}

/** Makes the training examples for confidence: questions of this set are answered, those of others are not. */
export async function verdicts(
  corpus: Corpus,
  { questions, isAnswered }: { questions: readonly Asked[]; isAnswered: boolean },
  weights: Weights,
): Promise<Verdict[]> {
  const all: Verdict[] = [];
  for (const { text } of questions) {
    const { candidates, evidence } = await gather(corpus, text);
    const judged = rerank(candidates, evidence, weights).sort((one, other) => other.score - one.score);
    all.push({ features: confidenceInput(judged, evidence), isAnswered });
  }
  return all;
}

/** A question with a test of quotes: does one answer it? */
export interface JudgedQuestion {
  readonly text: string;
  isAnswer(quote: string): boolean;
  /** Part of the weight of all of its kind. */
  readonly weight: number;
}

/** Makes the training examples for the last judge: the best place for each question, and whether its quote has the answer. */
export async function judgments(
  { retriever, library }: Pick<Corpus, 'retriever' | 'library'>,
  questions: readonly JudgedQuestion[],
): Promise<Judgment[]> {
  const all: Judgment[] = [];
  for (const { text, isAnswer, weight } of questions) {
    const found = await retriever.search({
      query: text,
      strategy: 'hybrid',
      topK: 10,
      rerank: true,
      libraries: [library],
    });
    const best = judgeInput(found);
    if (!best) continue;
    const isAnswered = isAnswer(best.quote);
    all.push({ features: best.features, isAnswered, weight: weight / questions.length });
  }
  return all;
}
