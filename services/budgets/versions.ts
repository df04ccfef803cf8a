import { AppError } from '#kit/errors.ts';

/** The versions that a caller allows something to have; undefined if any. */
export type Versions = readonly number[] | undefined;

/** Throws `precondition_failed` if the version is none of those that the caller allows. */
export function checkVersion(version: number, versions: Versions): void {
  if (versions === undefined || versions.includes(version)) return;
  throw new AppError('precondition_failed', `It was changed meanwhile and has version ${version} now.`);
}
