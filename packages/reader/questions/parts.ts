import { isCommonWord, toQuestion } from './question.ts';

const partsMax = 4;
const separator =
  /[?;]\s+|,?\s+(?:and also|as well as|and then)\s+|,?\s+and\s+(?=(?:how|what|when|where|who|whom|whose|which|why|is|are|do|does|did|can|could|should)\b)/i;

/** The parts of a question that asks for several things; the question itself if it has one part. */
export function partsOf(query: string): string[] {
  const parts = query
    // Long runs of spaces would take the pattern quadratic time.
    .replaceAll(/\s+/g, ' ')
    .split(separator)
    .map((part) => part.trim())
    .filter((part) => toQuestion(part).terms.length > 0);
  return parts.length > 1 ? parts.slice(0, partsMax) : [query];
}

const comparedMax = 300;
/** The two that are compared, and by what. */
const comparisons = [
  /^(?:compare|contrast) (?:the |our |my )?(?<one>.+?) (?:and|with|to|against) (?:the |our |my )?(?<other>.+?)(?: (?:on|by|regarding|concerning|in terms of) (?<by>.+?))?[.?!]*$/i,
  /^(?:(?:what (?:is|are)|list|show me) the (?:main )?)?differences? between (?:the |our |my )?(?<one>.+?) and (?:the |our |my )?(?<other>.+?)[.?!]*$/i,
];

/** The two that a question compares; undefined for others. */
export function comparedIn(asked: string): readonly [string, string] | undefined {
  const groups = comparisonIn(asked);
  return groups && [groups.one ?? '', groups.other ?? ''];
}

function comparisonIn(asked: string) {
  if (asked.length > comparedMax) return undefined;
  return comparisons.map((pattern) => pattern.exec(asked)).find(Boolean)?.groups;
}

/** The parts of a question that are answered one by one: those with words that tell, or each side of a comparison. */
export function answerableParts(query: string): string[] {
  const { one, other, by = '' } = comparisonIn(query) ?? {};
  if (one !== undefined) return [one, other].map((side) => `${by} ${side}`.trim());
  const parts = partsOf(query);
  const isTelling = (part: string) => toQuestion(part).terms.some(({ word }) => !isCommonWord(word));
  return parts.length > 1 && parts.every(isTelling) ? parts : [query];
}
