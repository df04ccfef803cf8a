import { refilledBy, WordIndex } from '@octavo/data/search';
import { sectionBelow, wordLayout, wordTable } from '../../indexing.ts';
import type { Tables } from '../../tables.ts';

interface IndexedChunk {
  readonly id: number;
  readonly title: string;
  readonly section: string;
  readonly text: string;
  readonly library: number;
}

const words = new WordIndex({ table: wordTable, ...wordLayout });
const chunksAtOnce = 200;

/** Puts the words of all chunks into an empty index. */
export const refilledWords = refilledBy<Tables, IndexedChunk>(
  ({ kysely }, after) =>
    kysely
      .selectFrom('chunk')
      .innerJoin('document', 'document.id', 'chunk.document')
      .select(['chunk.id', 'document.title', 'chunk.section', 'chunk.text', 'document.library'])
      .where('chunk.id', '>', after)
      .orderBy('chunk.id')
      .limit(chunksAtOnce)
      .execute(),
  async (session, chunks) => {
    for (const { id, title, section, text, library } of chunks)
      await words.put(session, id, { title, section: sectionBelow(title, section), text }, library);
  },
);
