import { toQuestion } from './question.ts';

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
