/** The refresh tokens of one sign-in; each was exchanged for the next (RFC 9700 section 4.14.2). */
export interface RefreshFamily {
  /** The number of the active token, counted from the first. */
  readonly generation: number;
  /** Time at which the active token replaced its predecessor; undefined for the first. */
  readonly rotatedMs: number | undefined;
}

/**
 * Verdict on a refresh token:
 * - `active`: exchange it for the next one.
 * - `race`: reject it. It was active a moment ago, as after a double click or with two tabs.
 * - `replay`: reject it and revoke the whole family. It was exchanged before, so another client has it too.
 */
export type RefreshVerdict = 'active' | 'race' | 'replay';

/**
 * Time after a rotation in which the predecessor counts as a race, in milliseconds. It is never exchanged again, so a thief
 * gains nothing.
 */
export const refreshLeewayMs = 10_000;

/**
 * Judges a token by its generation. The caller has verified that it is genuine, not expired, and of a family that is not revoked, and
 * stores the rotation in the same atomic step.
 */
export function judgeRefresh(
  generation: number,
  family: RefreshFamily,
  nowMs: number,
  leewayMs: number = refreshLeewayMs,
): RefreshVerdict {
  if (generation === family.generation) return 'active';
  const isPredecessor = generation === family.generation - 1;
  const { rotatedMs = Number.NEGATIVE_INFINITY } = family;
  return isPredecessor && nowMs - rotatedMs <= leewayMs ? 'race' : 'replay';
}
