import { labels } from '../../services/posts/sentiment/model/labels.ts';

export interface Judged {
  readonly truth: number;
  readonly probabilities: readonly number[];
}

/** Rows are the true classes, columns what was said. */
export type Confusion = readonly (readonly number[])[];

export function confusionOf(judged: readonly Judged[]): Confusion {
  return labels.map((_, truth) => {
    const own = judged.filter((one) => one.truth === truth).map(saidOf);
    return labels.map((_, label) => own.filter((said) => said === label).length);
  });
}

export function recalls(table: Confusion): number[] {
  return table.map((row, label) => (row[label] ?? 0) / row.reduce((a, b) => a + b, 0));
}

export function macroRecall(table: Confusion): number {
  return recalls(table).reduce((a, b) => a + b, 0) / labels.length;
}

/**
 * Expected calibration error: how far, in ten equal bands, confidence is from the share that was right. Each text
 * counts by the weight of its true class.
 */
export function calibrationError(judged: readonly Judged[], weights: readonly number[]): number {
  const bands = Array.from({ length: 10 }, () => 0);
  let all = 0;
  for (const one of judged) {
    const weight = weights[one.truth] ?? 0;
    const said = saidOf(one);
    const confidence = one.probabilities[said] ?? 0;
    const band = Math.min(9, Math.floor(confidence * 10));
    bands[band] = (bands[band] ?? 0) + weight * (confidence - (said === one.truth ? 1 : 0));
    all += weight;
  }
  return bands.reduce((sum, excess) => sum + Math.abs(excess), 0) / all;
}

function saidOf({ probabilities }: Judged): number {
  return probabilities.indexOf(Math.max(...probabilities));
}
