import { readFileSync } from 'node:fs';
import { termsOf } from '@octavo/data/terms';
import { isCommonWord } from '@octavo/reader/questions';
import { readLabelledSet } from '../../../services/chat/evaluation/index.ts';
import { meanScores, scoresOf } from '../../../services/chat/evaluation/metrics.ts';
import type { Strategy } from '../../../services/chat/retrieval/index.ts';
import { openCorpus } from '../../../training/retrieval/corpus.ts';

/** A question in other words than those of the document that answers it. */
interface Paraphrase {
  readonly set: string;
  readonly document: string;
  readonly query: string;
}

/** Recall and nDCG@10 of questions that were written without the words of the documents, of FTS5's words alone and with the vectors of meaning. */
export async function measureParaphrases(folder: string): Promise<void> {
  const lines = readFileSync(new URL('./paraphrases.jsonl', import.meta.url), 'utf8')
    .trim()
    .split('\n');
  const questions = lines.map((line) => JSON.parse(line) as Paraphrase);
  const all = new Map<string, ReturnType<typeof scoresOf>[]>();
  let [shared, words] = [0, 0];
  for (const [name, own] of Map.groupBy(questions, ({ set }) => set)) {
    const { documents = [] } = await readLabelledSet(`${folder}/${name}`);
    const texts = new Map(
      documents.map(({ id, text }) => [id, new Set(termsOf(text).map(({ stem }) => stem))]),
    );
    await using corpus = await openCorpus(folder, name);
    for (const { document, query } of own) {
      const telling = termsOf(query).filter(({ word }) => !isCommonWord(word));
      words += telling.length;
      shared += telling.filter(({ stem }) => texts.get(document)?.has(stem)).length;
      for (const strategy of ['hybrid', 'semantic', 'multi_query'] as const) {
        const scores = scoresOf(await ranked(corpus, query, strategy), new Map([[document, 1]]));
        for (const key of [`${name} ${strategy}`, `all ${strategy}`])
          all.set(key, [...(all.get(key) ?? []), scores]);
      }
    }
  }
  console.log(
    `${questions.length} questions; ${((100 * shared) / words).toFixed(0)} % of their words are in the document`,
  );
  for (const [key, scores] of all) {
    const { recallAt10, ndcgAt10 } = meanScores(scores);
    console.log(`${key.padEnd(24)} recall@10 ${recallAt10.toFixed(3)}, nDCG@10 ${ndcgAt10.toFixed(3)}`);
  }
}

async function ranked(
  { retriever, library }: Awaited<ReturnType<typeof openCorpus>>,
  query: string,
  strategy: Strategy,
): Promise<string[]> {
  const request = { query, strategy, topK: 50, rerank: true, libraries: [library] };
  const found = await retriever.search(request);
  return [...new Set(found.ranked.map(({ source }) => source.source))];
}
