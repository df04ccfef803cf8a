import { AppError } from '@octavo/core';
import { type Identity, isStranger, type Owner, publicOwner } from './owner.ts';

export const libraryModes = ['auto', 'shared', 'own'] as const;

/** Rules that decide which library a document goes into, and which ones answer whose questions. */
export interface LibraryRules {
  readonly mode: (typeof libraryModes)[number];
  /** True if people, keys or tokens can sign in, also where strangers are let in beside them. */
  readonly hasSignIn: boolean;
  /** False if only keys sign in, which have no roles. */
  readonly hasAdministrators: boolean;
}

/** Readers of a document: its owner, everyone, or those who are not signed in. */
export const visibilities = ['private', 'everyone', 'public'] as const;
export type Visibility = (typeof visibilities)[number];

export const everyoneKey = 'shared';
export const publicKey = 'public';

/** The keys of the libraries that a question in a session is answered from. Throws `forbidden` for a client that has none. */
export function librariesOf(rules: LibraryRules, owner: Owner, session?: string): string[] {
  checkHasLibrary(rules, owner);
  return [...standing(rules, owner), ...(session === undefined ? [] : [sessionKey(session)])];
}

/** Throws `forbidden` for clients that cannot be told apart where each has documents of its own. */
export function checkHasLibrary(rules: LibraryRules, owner: Owner): void {
  if (hasLibrary(rules, owner)) return;
  throw new AppError(
    'forbidden',
    'Sign in, or keep the cookie of the pages: documents belong to one owner here.',
  );
}

export function hasLibrary({ mode }: LibraryRules, owner: Owner): boolean {
  return mode !== 'own' || owner !== publicOwner;
}

function standing({ mode, hasSignIn }: LibraryRules, owner: Owner): string[] {
  if (mode === 'own') return [ownerKey(owner)];
  // What strangers uploaded while others could sign in is everyone's without a sign-in.
  if (!hasSignIn || isStranger(owner)) return [everyoneKey, publicKey];
  return [ownerKey(owner), everyoneKey];
}

/** The visibilities that a person may give to a document, the default first. */
export function visibilitiesFor(
  { mode, hasSignIn }: LibraryRules,
  { owner, isAdmin }: Identity,
): Visibility[] {
  if (mode === 'own') return ['private'];
  if (!hasSignIn) return ['everyone'];
  if (isStranger(owner)) return ['public'];
  return isAdmin || mode === 'shared' ? ['private', 'everyone'] : ['private'];
}

/** The key of the library for a document of that visibility. Throws `forbidden` if the caller may not give it. */
export function libraryFor(rules: LibraryRules, identity: Identity, visibility?: Visibility): string {
  checkHasLibrary(rules, identity.owner);
  const allowed = visibilitiesFor(rules, identity);
  const chosen = visibility ?? allowed[0] ?? 'private';
  if (!allowed.includes(chosen)) throw new AppError('forbidden', refusals[chosen](allowed[0] ?? 'private'));
  return chosen === 'private' ? ownerKey(identity.owner) : chosen === 'public' ? publicKey : everyoneKey;
}

const refusals: Readonly<Record<Visibility, (instead: Visibility) => string>> = {
  private: (instead) =>
    instead === 'public'
      ? 'Sign in to upload private documents.'
      : 'Nobody can sign in here, so every document is everyone’s.',
  everyone: (instead) =>
    instead === 'public'
      ? 'Sign in to share documents with everyone.'
      : 'Only administrators may share documents with everyone here.',
  public: () => 'Documents for people who are not signed in are uploaded without signing in.',
};

/** The visibility of the documents in a library. Those of a chat are its owner's. */
export function visibilityOf(key: string): Visibility {
  return key === everyoneKey ? 'everyone' : key === publicKey ? 'public' : 'private';
}

export function sessionKey(session: string): string {
  return `session:${session}`;
}

export function ownerKey(owner: Owner): string {
  return `owner:${owner}`;
}
