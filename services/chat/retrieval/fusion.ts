import type { Match } from './vectors.ts';

/** How a chunk was found. */
export type MatchedBy = 'keyword' | 'vector';

/** A chunk that was found, before it is read. */
export interface Candidate {
  readonly id: number;
  /** 0 to 1 among those that were found with it. */
  readonly score: number;
  readonly matchedBy: readonly MatchedBy[];
  readonly keywordScore: number;
  readonly vectorScore: number;
  /** The cosine with the question; 0 if it was found by keywords only. */
  readonly cosine: number;
}

/** How much keywords count in a sum with vectors, as measured with `octavo chat eval`. */
const keywordShare = 0.7;

/** A weighted sum of both scores, each from 0 to 1. */
export function fuse(keyword: readonly Match[], vector: readonly Match[]): Candidate[] {
  const share = vector.length === 0 ? 1 : keyword.length === 0 ? 0 : keywordShare;
  const keywords = scaled(keyword);
  const vectors = scaled(vector);
  const cosines = new Map(vector.map(({ id, score }) => [id, score]));
  const candidates = [...new Set([...keywords.keys(), ...vectors.keys()])].map((id): Candidate => {
    const [keywordScore, vectorScore] = [keywords.get(id) ?? 0, vectors.get(id) ?? 0];
    const matchedBy: MatchedBy[] = [
      ...(keywords.has(id) ? (['keyword'] as const) : []),
      ...(vectors.has(id) ? (['vector'] as const) : []),
    ];
    const score = share * keywordScore + (1 - share) * vectorScore;
    return { id, score, matchedBy, keywordScore, vectorScore, cosine: cosines.get(id) ?? 0 };
  });
  return candidates.sort((one, other) => other.score - one.score || one.id - other.id);
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
