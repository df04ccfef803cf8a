import type { Features } from '../../services/posts/sentiment/model/features.ts';
import { columns, offsets } from '../../services/posts/sentiment/model/features.ts';
import { labels } from '../../services/posts/sentiment/model/labels.ts';
import { seededRandom, shuffled } from './random.ts';

/** A sparse vector of the one weight table. */
export interface Sparse {
  readonly columns: readonly number[];
  readonly values: readonly number[];
}

export function sparse({ families, numbers }: Features): Sparse {
  const told = [...numbers.keys()].filter((index) => numbers[index] !== 0);
  return {
    columns: [
      ...families.flatMap((family) => family.columns),
      ...told.map((index) => offsets.numbers + index),
    ],
    values: [
      ...families.flatMap(({ columns, value }) => columns.map(() => value)),
      ...told.map((index) => numbers[index] as number),
    ],
  };
}

export interface LinearTask {
  readonly features: readonly Sparse[];
  readonly labels: readonly number[];
  readonly rows: readonly number[];
  readonly classWeights: readonly number[];
  readonly seed: number;
}

const classes = labels.length;
const epochs = 4;
const step = 0.03;
const decay = 1e-5;

/**
 * Softmax regression by AdaGrad. Each n-gram is first scaled by how far its naive Bayes odds part the classes
 * (Wang and Manning 2012); the scale is multiplied into the weights that are returned, so scoring need not know it.
 */
export function trainLinear(task: LinearTask): Float32Array {
  const scale = naiveBayesScale(task);
  const weights = new Float32Array(columns * classes);
  const squares = new Float32Array(columns * classes).fill(1e-3);
  const random = seededRandom(task.seed);
  const errors = new Float64Array(classes);
  for (let epoch = 0; epoch < epochs; epoch++)
    for (const row of shuffled(task.rows, random)) {
      errorsOf(task, row, { weights, scale, errors });
      descend(task, row, { weights, scale, errors, squares });
    }
  return weights.map((weight, index) => weight * (scale[Math.floor(index / classes)] ?? 0));
}

interface State {
  readonly weights: Float32Array;
  readonly scale: Float32Array;
  readonly errors: Float64Array;
}

function errorsOf({ features, labels, classWeights }: LinearTask, row: number, state: State): void {
  const { weights, scale, errors } = state;
  const { columns, values } = features[row] as Sparse;
  errors.fill(0);
  for (let index = 0; index < columns.length; index++) {
    const column = columns[index] as number;
    const value = (values[index] as number) * (scale[column] as number);
    for (let k = 0; k < classes; k++)
      (errors[k] as number) += (weights[column * classes + k] as number) * value;
  }
  const most = Math.max(...errors);
  const sum = errors.reduce((total, score) => total + Math.exp(score - most), 0);
  const label = labels[row] as number;
  for (let k = 0; k < classes; k++)
    errors[k] =
      (classWeights[label] as number) *
      (Math.exp((errors[k] as number) - most) / sum - (k === label ? 1 : 0));
}

function descend(task: LinearTask, row: number, state: State & { readonly squares: Float32Array }): void {
  const { weights, scale, errors, squares } = state;
  const { columns, values } = task.features[row] as Sparse;
  for (let index = 0; index < columns.length; index++) {
    const column = columns[index] as number;
    const value = (values[index] as number) * (scale[column] as number);
    for (let k = 0; k < classes; k++) {
      const at = column * classes + k;
      const gradient = (errors[k] as number) * value + decay * (weights[at] as number);
      squares[at] = (squares[at] as number) + gradient * gradient;
      weights[at] = (weights[at] as number) - (step * gradient) / Math.sqrt(squares[at] as number);
    }
  }
}

function naiveBayesScale({ features, labels, rows }: LinearTask): Float32Array {
  const counts = new Float32Array(columns * classes).fill(1);
  const totals: number[] = [classes, classes, classes];
  for (const row of rows) {
    const label = labels[row] as number;
    totals[label] = (totals[label] as number) + 1;
    for (const column of (features[row] as Sparse).columns) (counts[column * classes + label] as number)++;
  }
  return new Float32Array(columns).map((_, column) => {
    if (column >= offsets.marks) return 1;
    const shares = totals.map((total, k) => (counts[column * classes + k] as number) / total);
    const all = shares.reduce((a, b) => a + b);
    return 0.3 + 0.5 * Math.max(...shares.map((share) => Math.abs(Math.log((2 * share) / (all - share)))));
  });
}
