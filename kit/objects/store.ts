import { AppError } from '../errors.ts';

/** A complete object in a store. */
export interface StoredObject {
  /** Names of letters, digits, `.`, `_` and `-`, joined by slashes; none starts with a dot. */
  readonly key: string;
  readonly sizeBytes: number;
  /** When it was stored, in milliseconds since the Unix epoch; some servers tell whole seconds only. */
  readonly modifiedMs: number;
  /** A strong entity tag with its quotes (RFC 9110 section 8.8.3). */
  readonly entityTag: string;
}

/** Bytes from `start` to `end`, both counted from 0 and included. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

export interface PutOptions {
  /** The first of them that nobody else has is taken. */
  readonly keys: Iterable<string>;
  /** Media type, for stores that keep one. */
  readonly contentType: string;
  /** Gives up: what was stored so far goes away, and `put` throws. */
  readonly signal?: AbortSignal;
}

/**
 * Where files are kept. An object is there whole or not at all, never changes, and is never replaced by another of its key.
 * A store that does not answer, or refuses, throws `unavailable`.
 */
export interface ObjectStore extends AsyncDisposable {
  /**
   * Stores bytes as they come, a few megabytes of them in memory at most. Where the content throws, its error goes to the caller and
   * nothing stays. Throws `conflict` where every key is taken, `invalid_input` where there is not a single byte.
   */
  put(content: AsyncIterable<Uint8Array>, options: PutOptions): Promise<StoredObject>;
  /** The complete objects right below a folder such as `exports/`, newest first. */
  list(folder: string): Promise<StoredObject[]>;
  /** The object of that key; nothing where there is none, or none yet. */
  find(key: string): Promise<StoredObject | undefined>;
  /** Its bytes, or a range of them that lies within. Throws `not_found` where it has gone meanwhile. */
  read(object: StoredObject, range?: ByteRange): AsyncIterable<Uint8Array>;
  /** Throws where the store cannot be used. */
  ping(signal?: AbortSignal): Promise<void>;
}

/** Throws `invalid_input` for what is no key, such as one that leads out of the store. */
export function checkKey(key: string): void {
  if (key.length > keyCharactersMax || !key.split('/').every((name) => keyName.test(name))) {
    throw new AppError('invalid_input', 'There can be no object of this key.');
  }
}

/** The order of lists. */
export function newestFirst(one: StoredObject, other: StoredObject): number {
  return other.modifiedMs - one.modifiedMs || (one.key < other.key ? 1 : -1);
}

/** What is thrown where every key is taken. */
export function allTaken(): AppError {
  return new AppError('conflict', 'Every key that was offered is taken.');
}

/** What is thrown where there is nothing to store. */
export function noContent(): AppError {
  return new AppError('invalid_input', 'An object cannot be empty.');
}

/** What is thrown where an object has gone. */
export function gone(): AppError {
  return new AppError('not_found', 'The object does not exist any more.');
}

const keyName = /^[A-Za-z0-9_-][A-Za-z0-9._-]*$/;
const keyCharactersMax = 512;
