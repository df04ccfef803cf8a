/** The tokens that came from one sign-in, each from the one before (RFC 9700 section 4.14.2). */
export interface RefreshFamily {
  /** Which token is the active one, counted from the first. */
  readonly generation: number;
  /** When the active one took the place of its predecessor; undefined for the first. */
  readonly rotatedMs: number | undefined;
}

/**
 * What a token of a family is worth:
 * - `active`: it is to be exchanged for the next one;
 * - `race`: it was the active one until a moment ago, as with a double click or two tabs. It is refused and nothing else happens;
 * - `replay`: it was exchanged before, so that somebody else has it too. It is refused and the whole family ends.
 */
export type RefreshVerdict = 'active' | 'race' | 'replay';

/** How long after its rotation a predecessor counts as a race. It is never exchanged again, so a thief gains nothing. */
export const refreshLeewayMs = 10_000;

/**
 * Judges a token by its generation. Whether it is genuine, in time, and of a family that was not revoked has been found
 * out before; whoever stores the rotation does so in the same atomic step.
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
