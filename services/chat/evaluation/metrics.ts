/** The grades of the documents that are relevant for a question, by document. */
export type Grades = ReadonlyMap<string, number>;

/** Quality of rankings, on average over all questions; each from 0 to 1. */
export interface Scores {
  readonly ndcgAt10: number;
  readonly mrrAt3: number;
  readonly recallAt10: number;
}

/** The scores of one ranking of documents, best first. */
export function scoresOf(ranking: readonly string[], grades: Grades): Scores {
  const first = ranking.slice(0, 3).findIndex((id) => (grades.get(id) ?? 0) > 0);
  const relevant = [...grades.values()].filter((grade) => grade > 0).length;
  const found = ranking.slice(0, 10).filter((id) => (grades.get(id) ?? 0) > 0).length;
  const ideal = discounted([...grades.values()].sort((one, other) => other - one).slice(0, 10));
  const gain = discounted(ranking.slice(0, 10).map((id) => grades.get(id) ?? 0));
  return {
    ndcgAt10: ideal === 0 ? 0 : gain / ideal,
    mrrAt3: first < 0 ? 0 : 1 / (first + 1),
    recallAt10: relevant === 0 ? 0 : found / relevant,
  };
}

/** Discounted cumulative gain (Järvelin and Kekäläinen 2002) with the grade as gain. */
function discounted(grades: readonly number[]): number {
  return grades.reduce((sum, grade, place) => sum + Math.max(0, grade) / Math.log2(place + 2), 0);
}

export function meanScores(all: readonly Scores[]): Scores {
  const mean = (key: keyof Scores) => all.reduce((sum, scores) => sum + scores[key], 0) / (all.length || 1);
  return { ndcgAt10: mean('ndcgAt10'), mrrAt3: mean('mrrAt3'), recallAt10: mean('recallAt10') };
}
