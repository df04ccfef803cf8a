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
