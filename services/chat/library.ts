import type { Owner } from './owner.ts';

/** `shared` if documents serve everyone's questions, `own` for only those of their owner. */
export type LibraryMode = 'shared' | 'own';

/** The key of the library that an owner's documents go into. */
export function libraryKeyOf(mode: LibraryMode, owner: Owner, session?: string | undefined): string {
  if (session !== undefined) return `session:${session}`;
  return mode === 'shared' ? 'shared' : `owner:${owner}`;
}

/** The keys of the libraries that a question in a session is answered from. */
export function librariesOf(mode: LibraryMode, owner: Owner, session?: string | undefined): string[] {
  const keys = [libraryKeyOf(mode, owner)];
  return session === undefined ? keys : [...keys, libraryKeyOf(mode, owner, session)];
}
