import { toQuestion } from '@octavo/reader/questions';
import type { LabelledDocument, LabelledSet } from '../../services/chat/evaluation/labelled-set.ts';
import { seededRandom, shuffled } from '../sentiment/random.ts';

const questionsMax = 400;
const wordsMin = 60;
const titleLengthMax = 100;

/**
 * Questions that any documents ask themselves: some words of a run of words, after some of the title. The run is taken out of every second
 * document that is asked about, so that only what stands around it can tell (the inverse cloze task, Lee et al. 2019).
 */
export function syntheticSet(documents: readonly LabelledDocument[]): LabelledSet {
  const random = seededRandom(1);
  const step = Math.max(1, documents.length / questionsMax);
  const asked: LabelledSet['questions'][number][] = [];
  const kept = documents.map((document, index) => {
    if (Math.floor(index / step) === Math.floor((index - 1) / step)) return document;
    const words = [...document.text.matchAll(/\S+/g)];
    if (words.length < wordsMin) return document;
    const first = 12 + Math.floor(random() * (words.length - 32));
    const last = words[Math.min(words.length - 1, first + 10 + Math.floor(random() * 10))]!;
    const [start, end] = [words[first]!.index, last.index + last[0].length];
    const run = document.text.slice(start, end);
    const text = [...someWords(titleOf(document), 2, random), ...someWords(run, 8, random)].join(' ');
    asked.push({ id: document.id, text, grades: new Map([[document.id, 1]]) });
    if (asked.length % 2 === 0) return document;
    return { ...document, text: document.text.slice(0, start) + document.text.slice(end) };
  });
  return { documents: kept, questions: asked };
}

/** Its first line, or else its first words. */
function titleOf({ text }: LabelledDocument): string {
  const line = text.slice(0, text.indexOf('\n') + 1);
  return line.length > 3 && line.length <= titleLengthMax ? line : text.slice(0, titleLengthMax);
}

/** Up to so many words that say something, in their order. */
function someWords(text: string, most: number, random: () => number): string[] {
  const { terms } = toQuestion(text);
  const count = Math.ceil(most * (0.3 + 0.7 * random()));
  const chosen = shuffled([...terms.keys()], random).slice(0, count);
  return chosen.sort((one, other) => one - other).map((index) => terms[index]!.word);
}
