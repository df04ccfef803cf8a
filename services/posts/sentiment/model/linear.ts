import type { Features } from './features.ts';
import { labels } from './labels.ts';

const classes = labels.length;

/** A softmax regression over hashed features: three weights a column, as steps of its scale. */
export interface Linear {
  readonly weights: Int8Array;
  /** Full precision for the few columns of numbers and the bias, which carry far more each than an n-gram. */
  readonly dense: Float32Array;
  readonly scale: number;
}

export function linearScores({ weights, dense, scale }: Linear, { families, numbers }: Features): number[] {
  let [negative, neutral, positive] = [0, 0, 0];
  for (const { columns, value } of families) {
    let [negativeSteps, neutralSteps, positiveSteps] = [0, 0, 0];
    for (let index = 0; index < columns.length; index++) {
      const at = (columns[index] as number) * classes;
      negativeSteps += weights[at] as number;
      neutralSteps += weights[at + 1] as number;
      positiveSteps += weights[at + 2] as number;
    }
    if (columns.length === 0) continue;
    negative += negativeSteps * value * scale;
    neutral += neutralSteps * value * scale;
    positive += positiveSteps * value * scale;
  }
  for (const [index, value] of numbers.entries()) {
    negative += value * (dense[index * classes] as number);
    neutral += value * (dense[index * classes + 1] as number);
    positive += value * (dense[index * classes + 2] as number);
  }
  return [negative, neutral, positive];
}
