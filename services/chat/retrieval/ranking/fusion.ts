import type { Match } from '../top-k.ts';

/** Index that found a chunk. */
export type MatchedBy = 'keyword' | 'vector';

/** A chunk that was found, before it is read. */
export interface Candidate {
  readonly id: number;
  /** 0 to 1 among those that were found with it, by keywords and built-in vectors. The reranker has learned what it means. */
  readonly score: number;
  /** Score with the vectors of an embedding service, if there is one; candidates are ordered by it. */
  readonly fusedScore: number;
  readonly matchedBy: readonly MatchedBy[];
  readonly keywordScore: number;
  readonly vectorScore: number;
  /** The cosine of the built-in vectors; 0 if it was found otherwise. */
  readonly cosine: number;
  /** 0 to 1 among those that the embedding service found; 0 if it did not, undefined if there is none. */
  readonly denseScore: number | undefined;
}

/** Matches of an embedding service, and their weight in a sum with the words. */
export interface Dense {
  readonly matches: readonly Match[];
  readonly share: number;
}

/** Weight of keywords in a sum with the built-in vectors, as measured with `octavo chat eval`. */
const keywordShare = 0.7;

/** A weighted sum of all scores, each from 0 to 1. */
export function fuse(keyword: readonly Match[], vector: readonly Match[], dense?: Dense): Candidate[] {
  const share = vector.length === 0 ? 1 : keyword.length === 0 ? 0 : keywordShare;
  const [keywords, vectors, near] = [scaled(keyword), scaled(vector), scaled(dense?.matches ?? [])];
  const cosines = new Map(vector.map(({ id, score }) => [id, score]));
  const ids = new Set([...keywords.keys(), ...vectors.keys(), ...near.keys()]);
  const candidates = [...ids].map((id): Candidate => {
    const [keywordScore, vectorScore] = [keywords.get(id) ?? 0, vectors.get(id) ?? 0];
    const matchedBy: MatchedBy[] = [
      ...(keywords.has(id) ? (['keyword'] as const) : []),
      ...(vectors.has(id) || near.has(id) ? (['vector'] as const) : []),
    ];
    const score = share * keywordScore + (1 - share) * vectorScore;
    const denseScore = dense && (near.get(id) ?? 0);
    const fusedScore = blend(score, denseScore, dense?.share ?? 0);
    const cosine = cosines.get(id) ?? 0;
    return { id, score, fusedScore, matchedBy, keywordScore, vectorScore, cosine, denseScore };
  });
  return candidates.sort((one, other) => other.fusedScore - one.fusedScore || one.id - other.id);
}

/** A score of the words with that of an embedding service. */
export function blend(score: number, denseScore: number | undefined, share: number): number {
  return denseScore === undefined ? score : (1 - share) * score + share * denseScore;
}

/** Scores from 0 for the worst to 1 for the best. */
function scaled(matches: readonly Match[]): Map<number, number> {
  const scores = matches.map(({ score }) => score);
  const [best, worst] = [Math.max(...scores), matches.length > fewMatches ? Math.min(...scores) : 0];
  return new Map(matches.map(({ id, score }) => [id, (score - worst) / (best - worst || 1)]));
}

/** So few that the worst of them may be as good as any. */
const fewMatches = 20;

/** Lists of candidates by turns, so that each of several questions is answered. A chunk keeps its best score. */
export function interleave(lists: readonly (readonly Candidate[])[]): Candidate[] {
  const merged = new Map<number, Candidate>();
  const length = Math.max(0, ...lists.map((list) => list.length));
  for (let place = 0; place < length; place++) {
    for (const list of lists) {
      const candidate = list[place];
      if (candidate && !merged.has(candidate.id)) merged.set(candidate.id, candidate);
    }
  }
  return [...merged.values()];
}

/** Weight of the question itself beside all of its variants, as measured with `octavo chat eval`. */
const questionShare = 0.95;

/** Scores of a chunk that a query did not return. */
const zeroScores = { keywordScore: 0, vectorScore: 0, cosine: 0, score: 0, fusedScore: 0 };

/**
 * A chunk that several phrasings find is worth the sum of what it is to each. What it is to the question itself, the first of them, is kept
 * for whoever reads it.
 */
export function sumCandidates([own = [], ...others]: readonly (readonly Candidate[])[]): Candidate[] {
  if (others.length === 0) return [...own];
  const merged = new Map(
    own.map((candidate) => [candidate.id, { ...candidate, ...scoresOf(candidate, questionShare) }]),
  );
  const share = (1 - questionShare) / others.length;
  for (const candidate of others.flat()) {
    const denseScore = candidate.denseScore === undefined ? undefined : 0;
    const known = merged.get(candidate.id) ?? { ...candidate, ...zeroScores, denseScore };
    const more = scoresOf(candidate, share);
    const [score, fusedScore] = [known.score + more.score, known.fusedScore + more.fusedScore];
    merged.set(candidate.id, { ...known, score, fusedScore });
  }
  return [...merged.values()].sort((one, other) => other.fusedScore - one.fusedScore || one.id - other.id);
}

function scoresOf({ score, fusedScore }: Candidate, share: number) {
  return { score: score * share, fusedScore: fusedScore * share };
}
