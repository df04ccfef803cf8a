import { AppError } from '@octavo/core';

/** A complete object in a store. */
export interface StoredObject {
  /** Names of letters, digits, `.`, `_` and `-`, joined by slashes. No name starts with a dot. */
  readonly key: string;
  readonly sizeBytes: number;
  /** Time of storage, in milliseconds since the Unix epoch; some servers only know whole seconds. */
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
  /** The first one that is free is used. */
  readonly keys: Iterable<string>;
  /** Media type, for stores that record it. */
  readonly contentType: string;
  /** Aborts: the partial object is removed, and `put` throws. */
  readonly signal?: AbortSignal;
}

/**
 * Stores files. An object is complete or absent, never changes, and is never replaced by another one with its key while it exists.
 * If the store does not respond within 10 s, or rejects a request, methods throw `unavailable`. Disposing it ends what is in progress.
 */
export interface ObjectStore extends AsyncDisposable {
  /**
   * Stores a stream, with at most a few megabytes in memory. If the content throws, its error is passed on and nothing is stored.
   * Throws `conflict` if every key is taken, `invalid_input` if there are no bytes.
   */
  put(content: AsyncIterable<Uint8Array>, options: PutOptions): Promise<StoredObject>;
  /** The complete objects right below a folder such as `exports/`, newest first. */
  list(folder: string): Promise<StoredObject[]>;
  /** The object with that key; undefined if there is none, or it is not complete yet. */
  find(key: string): Promise<StoredObject | undefined>;
  /** Reads the bytes, or a range within them. Throws `not_found` if the object no longer exists. */
  read(object: StoredObject, range?: ByteRange): AsyncIterable<Uint8Array>;
  /** Removes the complete object with that key. Resolves to false if there is none. */
  remove(key: string): Promise<boolean>;
  /** Throws if the store cannot be used. */
  ping(signal?: AbortSignal): Promise<void>;
}

/** Throws `invalid_input` for an invalid key, such as one that leads out of the store. */
export function checkKey(key: string): void {
  if (key.length > keyCharactersMax || !key.split('/').every((name) => keyName.test(name))) {
    throw new AppError('invalid_input', 'This is not a valid object key.');
  }
}

/** The order of lists. */
export function newestFirst(one: StoredObject, other: StoredObject): number {
  return other.modifiedMs - one.modifiedMs || (one.key < other.key ? 1 : -1);
}

/** The error if every key is taken. */
export function allTaken(): AppError {
  return new AppError('conflict', 'All of the given keys are taken.');
}

/** The error if there is nothing to store. */
export function noContent(): AppError {
  return new AppError('invalid_input', 'An object cannot be empty.');
}

/** The error if an object was removed. */
export function gone(): AppError {
  return new AppError('not_found', 'The object no longer exists.');
}

const keyName = /^[A-Za-z0-9_-][A-Za-z0-9._-]*$/;
const keyCharactersMax = 512;
