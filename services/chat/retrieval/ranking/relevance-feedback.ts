import type { QueryTermWeights } from '@octavo/reader/questions';
import { wordLayout } from '../../indexing.ts';

/** The words of a passage. */
export interface PassageWords {
  /** Number of occurrences of each stem in its text. */
  readonly stems: ReadonlyMap<string, number>;
  readonly headingStems: ReadonlySet<string>;
  readonly titleStems: ReadonlySet<string>;
}

const passagesMax = 10;
const stemsMax = 40;
/** Steepness with which a passage counts for less when it has less of the question than the best. */
const sharpness = 10;

/**
 * Returns the share of the best passages' common words that a passage has, 0 to 1 (relevance feedback: Rocchio 1971). Where one
 * passage is far ahead, as for most questions about a fact, mainly its own words count; where many are nearly as good, those
 * that they share do.
 */
export function feedbackFor(
  passages: readonly PassageWords[],
  evidence: QueryTermWeights,
): (passage: PassageWords) => number {
  const best = byBm25(passages, evidence).slice(0, passagesMax);
  const most = best[0]?.score || 1;
  const weights = new Map<string, { weight: number; passages: number }>();
  for (const { passage, score, length } of best) {
    const share = Math.exp(sharpness * (score / most - 1)) / Math.sqrt(length || 1);
    for (const [stem, count] of passage.stems) {
      const known = weights.get(stem);
      const weight = share * Math.log(1 + count);
      if (known) {
        known.weight += weight;
        known.passages++;
      } else weights.set(stem, { weight, passages: 1 });
    }
  }
  const telling = [...weights]
    .filter(([, known]) => known.passages > 1)
    .map(([stem, { weight }]) => ({ stem, weight: weight * evidence.rarityInLibrary(stem) }))
    .sort((one, other) => other.weight - one.weight)
    .slice(0, stemsMax);
  const total = telling.reduce((sum, { weight }) => sum + weight, 0) || 1;
  return ({ stems }) =>
    telling.reduce((sum, { stem, weight }) => sum + (stems.has(stem) ? weight : 0), 0) / total;
}

const saturation = 1.2;
const lengthShare = 0.75;

/** Passages by BM25 over their words and headings, best first, with the rarities in the library and the mean length of these passages. */
function byBm25(passages: readonly PassageWords[], evidence: QueryTermWeights) {
  const { title, section } = wordLayout.weights;
  const measured = passages.map((passage) => {
    let length = 0;
    for (const count of passage.stems.values()) length += count;
    return { passage, length, indexed: length + passage.headingStems.size + passage.titleStems.size };
  });
  const mean = measured.reduce((sum, { indexed }) => sum + indexed, 0) / (measured.length || 1) || 1;
  const scored = measured.map(({ passage, length, indexed }) => {
    const normal = saturation * (1 - lengthShare + (lengthShare * indexed) / mean);
    let score = 0;
    for (const { stem } of evidence.question.terms) {
      const inHeadings =
        (passage.headingStems.has(stem) ? section : 0) + (passage.titleStems.has(stem) ? title : 0);
      const count = (passage.stems.get(stem) ?? 0) + inHeadings;
      score += (evidence.rarityOf(stem) * count) / (count + normal);
    }
    return { passage, length, score };
  });
  return scored.sort((one, other) => other.score - one.score);
}
