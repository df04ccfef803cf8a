import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type Ask,
  gradeOf,
  questionsOf,
  type RealSet,
  tuningSets,
} from '../../proof/bench/chat/real/grades.ts';
import { openLibrary, storeLibrary } from '../../proof/bench/chat/real/stored.ts';
import { type JudgedQuestion, judgments } from './examples.ts';
import type { Judgment } from './learn.ts';
import { nearMisses } from './near-misses.ts';

/** Weights of the questions of each kind; near misses that are made from others, and questions about other programs, are sometimes answered after all. */
const weights = { answerable: 1, near: 1, made: 0.5, foreign: 0.5 };

/** Examples from manuals, guides and tables, which have the structure that the other sets lack. The questions that `proof/bench/chat.ts` holds back are not among them. */
export async function realJudgments(packages: string): Promise<Judgment[]> {
  const all: Judgment[] = [];
  for (const set of tuningSets) all.push(...(await setJudgments(packages, set)));
  return all;
}

async function setJudgments(packages: string, set: RealSet): Promise<Judgment[]> {
  const folder = mkdtempSync(join(tmpdir(), 'octavo-real-'));
  await storeLibrary(folder, packages, set);
  const { database, ...library } = await openLibrary(folder);
  try {
    return (await Promise.all(questionKinds(set).map((each) => judgments(library, each)))).flat();
  } finally {
    await database[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true });
  }
}

function questionKinds(set: RealSet): JudgedQuestion[][] {
  const all = questionsOf(set);
  const answerable = answerableOf(set);
  const foreign = tuningSets.filter((other) => other !== set).flatMap(answerableOf);
  const isRight = (expected: (typeof answerable)[number]) => (answer: string) =>
    gradeOf(expected, { answer, abstained: false }) === 'right';
  const none = (texts: readonly string[], weight: number) =>
    texts.map((text) => ({ text, weight, isAnswer: () => false }));
  const near = all.flatMap(({ kind, ask }) => (kind === 'near' && ask ? [ask] : []));
  const made = nearMisses(answerable.map(({ ask }) => ask));
  return [
    answerable.map((each) => ({ text: each.ask, weight: weights.answerable, isAnswer: isRight(each) })),
    none(near, weights.near),
    none(made, weights.made),
    none(
      foreign.map(({ ask }) => ask),
      weights.foreign,
    ),
  ];
}

/** The questions that have an answer, and those that conversations begin with. */
function answerableOf(set: RealSet): Ask[] {
  return questionsOf(set).flatMap(({ kind, ask = '', turns: [first] = [], ...expected }) => {
    if (kind === 'answerable') return [{ ask, ...expected }];
    return first && kind === 'conversation' ? [first] : [];
  });
}
