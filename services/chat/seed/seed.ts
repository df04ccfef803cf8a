import { readFile } from 'node:fs/promises';
import { type IngestParts, ownOwner, tagsOfDocuments, upload } from '../documents/index.ts';
import { everyoneKey } from '../library.ts';

const tag = 'handbook';
const files = ['staff-handbook.md', 'travel-and-expenses.md', 'security.md', 'how-we-invest.md'];

/** True if there are documents and none of them is of the handbook, which would then answer beside those of the owner. */
export async function holdsOwnDocuments({ database }: IngestParts): Promise<boolean> {
  const known = await tagsOfDocuments(database);
  return known.length > 0 && !known.some((tags) => tags.includes(tag));
}

/** Indexes the handbook of a fictitious firm for everybody's questions. What is there already is left alone. Returns how many documents are new. */
export async function seedHandbook(parts: IngestParts): Promise<number> {
  let added = 0;
  for (const filename of files) {
    const bytes = await readFile(new URL(filename, import.meta.url));
    const options = {
      owner: ownOwner,
      libraryKey: everyoneKey,
      session: null,
      ...({ tags: [tag], onDuplicate: 'skip', waits: true } as const),
    };
    const { isDuplicate } = await upload(parts, { filename, bytes }, options);
    if (!isDuplicate) added++;
  }
  return added;
}
