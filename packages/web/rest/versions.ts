import { AppError } from '@octavo/core';

/** Versions that a caller allows an entity to have; undefined if any. */
export type Versions = readonly number[] | undefined;

const entityTag = '(?:W/)?"[\\x21\\x23-\\x7e\\x80-\\xff]*"';
const entityTags = new RegExp(`^[\\s,]*${entityTag}(?:\\s*,[\\s,]*${entityTag})*[\\s,]*$`);
/** Larger numbers are not exact in JSON. */
const versionDigitsMax = 15;

/** The entity tag of a version, as a strong validator (RFC 9110 section 8.8.3): `"v3"`. */
export function versionTag(version: number, prefix = 'v'): string {
  return `"${prefix}${version}"`;
}

/**
 * The versions in an `If-Match` header (RFC 9110 section 13.1.1), whose tags {@link versionTag} wrote; undefined if any version will
 * do. Weak tags and those of others match no version. Throws `precondition_failed` in words that fit where nothing else is there, or
 * where the header is malformed: it is not that something was changed.
 */
export function versionsIn(ifMatch: string | undefined, prefix = 'v'): Versions {
  if (ifMatch === undefined || ifMatch.trim() === '*') return undefined;
  if (!entityTags.test(ifMatch)) {
    throw unusable(`must be an entity tag in quotes, such as ${versionTag(3, prefix)}, or *`);
  }
  const version = new RegExp(`^"${prefix}([1-9]\\d{0,${versionDigitsMax - 1}})"$`);
  const tags = ifMatch.match(new RegExp(entityTag, 'g')) ?? [];
  if (tags.every((tag) => tag.startsWith('W/'))) {
    throw unusable(
      `must be a strong entity tag, such as ${versionTag(3, prefix)}: W/ marks a weak one, as some proxies make it`,
    );
  }
  return tags.flatMap((tag) => version.exec(tag)?.[1] ?? []).map(Number);
}

function unusable(problem: string): AppError {
  return new AppError('precondition_failed', `If-Match ${problem}.`, { fields: { 'If-Match': problem } });
}

/** Throws `precondition_failed` if the version is none of those that the caller allows. */
export function checkVersion(version: number, versions: Versions): void {
  if (versions === undefined || versions.includes(version)) return;
  throw new AppError(
    'precondition_failed',
    `This was changed by someone else (version ${version}). Reload and try again.`,
  );
}
