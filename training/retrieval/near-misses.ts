import { isCommonWord, toQuestion } from '@octavo/reader/questions';
import { seededRandom } from '../sentiment/random.ts';

/**
 * Questions that a set does not answer though it is about their topic: a name, a number or the rarest word of each is replaced by one of
 * another question of its kind.
 */
export function nearMisses(questions: readonly string[]): string[] {
  const random = seededRandom(7);
  const pick = <T>(items: readonly T[]) => items[Math.floor(random() * items.length)] as T;
  const names = questions.flatMap(namesIn);
  const numbers = questions.flatMap((text) => text.match(/\b\d+\b/g) ?? []);
  const words = questions.flatMap((text) => telling(text));
  return questions.flatMap((text) => {
    const own = [
      ...namesIn(text).map((part) => ({ part, others: names })),
      ...(text.match(/\b\d+\b/g) ?? []).map((part) => ({ part, others: numbers })),
    ];
    const plain = telling(text).map((part) => ({ part, others: words }));
    const chosen = own.length > 0 && random() < 0.7 ? pick(own) : plain.length > 0 ? pick(plain) : undefined;
    if (!chosen) return [];
    const other = pick(chosen.others);
    return text.toLowerCase().includes(other.toLowerCase()) ? [] : [text.replace(chosen.part, other)];
  });
}

/** Words in capitals behind the first word, together where they stand together. */
function namesIn(text: string): string[] {
  return text.match(/(?<=\S\s)\p{Lu}[\p{L}’'-]+(?:\s\p{Lu}[\p{L}’'-]+)*/gu) ?? [];
}

function telling(text: string): string[] {
  return toQuestion(text)
    .terms.map(({ start, end }) => text.slice(start, end))
    .filter((word) => /^\p{Ll}{5,}$/u.test(word) && !isCommonWord(word));
}
