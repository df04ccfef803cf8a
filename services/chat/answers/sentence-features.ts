import { termsOf } from '#kit/search/terms.ts';
import { type Evidence, isCommonWord, nearness, type Passage, pairShare } from '../retrieval/index.ts';
import { type Span, sentencesOf } from '../sentences.ts';

/** What is known of a sentence that may answer a question, each from about 0 to 1. */
export const sentenceFeatureNames = [
  'coverage',
  'localCoverage',
  'nearStems',
  'withBefore',
  'headings',
  'passageScore',
  'passageRank',
  'pairs',
  'wholeWords',
  'names',
  'newNumber',
  'newName',
  'newWords',
  'isFirst',
  'isHeading',
] as const;

/** A sentence of a passage, by its place in the passage. */
export interface CandidateSentence extends Span {
  readonly text: string;
  readonly features: Float32Array;
}

/** The sentences of passages, best passage first, each list as one passage. */
export function sentenceCandidates(
  ranked: readonly { readonly passage: Passage; readonly score: number }[],
  evidence: Evidence,
): CandidateSentence[][] {
  const read = ranked.map(({ passage }) => readSentences(passage, evidence));
  const local = localRarities(read.flat(), evidence);
  return ranked.map(({ passage, score }, rank) =>
    withFeatures(read[rank] ?? [], { passage, rank, score, local }, evidence),
  );
}

interface Place {
  readonly passage: Passage;
  readonly rank: number;
  readonly score: number;
  /** How few of the sentences have each word of the question. */
  readonly local: ReadonlyMap<string, number>;
}

function withFeatures(
  sentences: readonly ReadSentence[],
  { passage, rank, score, local }: Place,
  evidence: Evidence,
): CandidateSentence[] {
  const total = [...local.values()].reduce((sum, weight) => sum + weight, 0) || 1;
  const headings = new Set(termsOf(`${passage.title} ${passage.section}`).map(({ stem }) => stem));
  let before: ReadonlySet<string> = new Set();
  return sentences.map((words, index) => {
    const { start, end, text, stems } = words;
    let localCoverage = 0;
    for (const [stem, weight] of local) if (stems.has(stem)) localCoverage += weight;
    const features = Float32Array.of(
      evidence.share((stem) => stems.has(stem)),
      localCoverage / total,
      evidence.weighted((stem) => (stems.has(stem) ? 1 : nearness(stem, stems))),
      evidence.share((stem) => stems.has(stem) || before.has(stem)),
      evidence.share((stem) => stems.has(stem) || headings.has(stem)),
      score,
      1 / (1 + rank),
      pairShare(words.places, evidence),
      evidence.share((stem) => words.whole.has(stem)),
      evidence.nameShare((stem) => stems.has(stem)),
      evidence.expects === 'number' && words.hasNewNumber ? 1 : 0,
      evidence.expects === 'name' && words.hasNewName ? 1 : 0,
      Math.min(1, words.newCount / 10),
      index === 0 ? 1 : 0,
      /[.!?…。！？:"”')\]]$/u.test(text) ? 0 : 1,
    );
    before = stems;
    return { start, end, text, features };
  });
}

/** Words that few of the sentences have tell them apart. */
function localRarities(sentences: readonly ReadSentence[], evidence: Evidence): Map<string, number> {
  const rarities = new Map<string, number>();
  for (const { stem } of evidence.question.terms) {
    const count = sentences.filter(({ stems }) => stems.has(stem)).length;
    if (count > 0) rarities.set(stem, evidence.rarityOf(stem) * Math.log(1 + sentences.length / count));
  }
  return rarities;
}

type ReadSentence = Span & { readonly text: string } & ReturnType<typeof readSentence>;

function readSentences(passage: Passage, evidence: Evidence): ReadSentence[] {
  return sentencesOf(passage.text).map(({ start, end }) => {
    const text = passage.text.slice(start, end);
    return { start, end, text, ...readSentence(text, evidence) };
  });
}

function readSentence(text: string, evidence: Evidence) {
  const places = new Map<string, number[]>();
  const whole = new Set<string>();
  const stems = new Set<string>();
  let [newCount, hasNewNumber, hasNewName] = [0, false, false];
  for (const [index, { stem, word, start }] of termsOf(text).entries()) {
    stems.add(stem);
    const asked = evidence.wordOf(stem);
    if (asked === undefined) {
      if (isCommonWord(word)) continue;
      newCount++;
      if (/\d/.test(word)) hasNewNumber = true;
      else if (start > 0 && /\p{Lu}/u.test(text.charAt(start))) hasNewName = true;
      continue;
    }
    if (asked === word) whole.add(stem);
    const known = places.get(stem);
    if (known) known.push(index);
    else places.set(stem, [index]);
  }
  return { places, whole, stems, newCount, hasNewNumber, hasNewName };
}
