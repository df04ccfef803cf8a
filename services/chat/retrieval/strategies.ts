import { toQuestion } from './question.ts';

export const strategyIds = ['semantic', 'hybrid', 'multi_query', 'decomposed'] as const;
export type Strategy = (typeof strategyIds)[number];
export const defaultStrategy: Strategy = 'hybrid';

/** The strategies as `GET /api/strategies` lists them. */
export const strategies = [
  {
    id: 'semantic',
    name: 'Semantic',
    description:
      'Finds passages with a meaning near that of the question, also in other words. Good where you do not know the words of the documents.',
    steps: ['vectors of meaning', 'vectors'],
    requires: [],
  },
  {
    id: 'hybrid',
    name: 'Hybrid',
    description: 'Combines vectors with ranked keywords. A good choice for most questions.',
    steps: ['keywords', 'vectors', 'fusion'],
    requires: [],
  },
  {
    id: 'multi_query',
    name: 'Several phrasings',
    description: 'Asks the question in several ways, and combines what each of them finds.',
    steps: ['variants', 'keywords', 'vectors', 'fusion'],
    requires: [],
  },
  {
    id: 'decomposed',
    name: 'Step by step',
    description:
      'Divides a question with several parts, and finds passages for each of them. Good where you ask two things at once.',
    steps: ['sub-queries', 'keywords', 'vectors', 'fusion'],
    requires: [],
  },
] as const satisfies readonly { readonly id: Strategy; readonly [name: string]: unknown }[];

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
