import { readFileSync } from 'node:fs';
import { silentLog } from '@octavo/core/log';
import { termsOf } from '@octavo/data/terms';
import { Encoder } from '@octavo/encoder';
import { isCommonWord } from '@octavo/reader/questions';
import { readLabelledSet } from '../../../services/chat/evaluation/index.ts';
import { meanScores, scoresOf } from '../../../services/chat/evaluation/metrics.ts';
import type { Strategy } from '../../../services/chat/retrieval/index.ts';
import { type Corpus, openCorpus } from '../../../training/retrieval/corpus.ts';
import { withEncoder } from './encoder.ts';

/** A question in other words than those of the document that answers it. */
interface Paraphrase {
  readonly set: string;
  readonly document: string;
  readonly query: string;
}

/** Recall and nDCG@10 of questions that were written without the words of the documents, by words with the word vectors, or with the encoder. */
export async function measureParaphrases(folder: string, hasEncoder: boolean): Promise<void> {
  await using encoder = new Encoder({ log: silentLog });
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
    await using indexed = await openCorpus(folder, name);
    const corpus = hasEncoder ? await withEncoder(indexed, encoder) : indexed;
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

async function ranked({ retriever, library }: Corpus, query: string, strategy: Strategy): Promise<string[]> {
  const request = { query, strategy, topK: 50, rerank: true, libraries: [library] };
  const found = await retriever.search(request);
  return [...new Set(found.ranked.map(({ source }) => source.source))];
}
