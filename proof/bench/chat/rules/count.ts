import { join } from 'node:path';
import { type ChatMessage, type Reading, read } from '@octavo/reader';
import { documentsOf } from '../../../../services/chat/retrieval/index.ts';
import { type Ask, gradeOf, isMarked, questionsOf, type RealSet, tuningSets } from '../real/grades.ts';
import { openLibrary } from '../real/stored.ts';

/** Numbers of questions, and of what became of them. */
export interface Counts {
  answerable: number;
  /** The right place is marked in one of three passages. */
  inThree: number;
  aloneRight: number;
  aloneWrong: number;
  near: number;
  nearClaimed: number;
  everyday: number;
  everydayRight: number;
  followUps: number;
  followUpsInThree: number;
}

/** The sets that rules may have been learned from, and one that nobody learned from. */
export const countedSets: readonly RealSet[] = [...tuningSets, 'held-back'];

/** Counts the answers to the questions of each set, about the libraries in the folders of a folder. */
export async function countAnswers(libraries: string): Promise<Record<string, Counts>> {
  const counts: Record<string, Counts> = {};
  for (const set of countedSets) counts[set] = await countSet(join(libraries, set), set);
  return counts;
}

/** Opens the library in a folder, and answers questions after others from it as the chat does without a model. */
async function openReader(folder: string) {
  const { database, library, retriever } = await openLibrary(folder);
  return {
    database,
    answerTo: (text: string, history: readonly ChatMessage[]): Promise<Reading> =>
      read({ text, language: 'en', sourcesMax: 5 }, history, {
        passages: ({ text: query, asked: withoutContext, limit }) =>
          retriever.search({
            query,
            withoutContext,
            strategy: 'hybrid',
            topK: limit,
            rerank: true,
            libraries: [library],
          }),
        documents: () => documentsOf(database, [library], undefined),
        partForDocuments: async () => undefined,
      }),
  };
}

async function countSet(folder: string, set: RealSet): Promise<Counts> {
  const counts: Counts = {
    answerable: 0,
    inThree: 0,
    aloneRight: 0,
    aloneWrong: 0,
    near: 0,
    nearClaimed: 0,
    everyday: 0,
    everydayRight: 0,
    followUps: 0,
    followUpsInThree: 0,
  };
  const { database, answerTo } = await openReader(folder);
  for (const { kind, turns, ask = '', ...expected } of questionsOf(set)) {
    const history: ChatMessage[] = [];
    for (const [place, turn] of (turns ?? [{ ask, ...expected }]).entries()) {
      const reading = await answerTo(turn.ask, history);
      history.push({ role: 'user', content: turn.ask }, { role: 'assistant', content: reading.answer.text });
      count(
        counts,
        kind === 'conversation' ? (place === 0 ? 'answerable' : 'followUp') : kind,
        turn,
        reading,
      );
    }
  }
  await database[Symbol.asyncDispose]();
  return counts;
}

function count(counts: Counts, kind: string, expected: Ask, { answer, sources }: Reading): void {
  const grade = gradeOf(expected, { answer: answer.text, abstained: answer.abstained });
  const isIn = (expected.says ?? []).length > 0 && isMarked(expected, { sources });
  if (kind === 'answerable') {
    counts.answerable++;
    if (isIn || grade === 'right') counts.inThree++;
    if (grade === 'right') counts.aloneRight++;
    else if (grade !== 'refused') counts.aloneWrong++;
  } else if (kind === 'near') {
    counts.near++;
    if (grade !== 'refused') counts.nearClaimed++;
  } else if (kind === 'everyday') {
    counts.everyday++;
    if (grade === 'right') counts.everydayRight++;
  } else {
    counts.followUps++;
    if (isIn || grade === 'right') counts.followUpsInThree++;
  }
}
