import type { Reading } from '../../services/posts/sentiment/model/convolution.ts';
import {
  dimensions,
  filters,
  inputs,
  reach,
  signals,
  unknown,
} from '../../services/posts/sentiment/model/convolution.ts';
import { labels as names } from '../../services/posts/sentiment/model/labels.ts';
import { Adam, adamCorrection } from './adam.ts';
import { normal, seededRandom, shuffled } from './random.ts';

export interface ConvolutionTask {
  readonly texts: readonly (readonly Reading[])[];
  readonly labels: readonly number[];
  readonly rows: readonly number[];
  readonly classWeights: readonly number[];
  readonly vectors: Float32Array;
  readonly seed: number;
}

/** The parameters in full precision; their order is that of `Net`. */
export interface TrainedConvolution {
  readonly vectors: Float32Array;
  readonly kernels: Float32Array;
  readonly bias: Float32Array;
  readonly output: Float32Array;
  readonly outputBias: Float32Array;
}

const classes = names.length;
const epochs = 3;
const batch = 64;
const rate = 1e-3;
const tokensMax = 60;

export function trainConvolution(task: ConvolutionTask): TrainedConvolution {
  const random = seededRandom(task.seed);
  const trainer = new Trainer(task, random);
  let steps = 0;
  for (let epoch = 0; epoch < epochs; epoch++) {
    const order = shuffled(task.rows, random);
    for (let start = 0; start < order.length; start += batch) {
      const rows = order.slice(start, start + batch);
      for (const row of rows) trainer.learn(row, rows.length);
      trainer.step(rate * (1 - (0.9 * epoch) / epochs) * adamCorrection(++steps));
    }
  }
  return trainer.parameters();
}

class Trainer {
  readonly #task: ConvolutionTask;
  readonly #random: () => number;
  readonly #vectors: Adam;
  readonly #kernels: Adam;
  readonly #bias = new Adam(new Float32Array(filters));
  readonly #output: Adam;
  readonly #outputBias = new Adam(new Float32Array(classes));
  readonly #touched = new Set<number>();
  readonly #input = new Float32Array(tokensMax * inputs);
  readonly #inputSlope = new Float32Array(tokensMax * inputs);
  readonly #mask = new Float32Array(inputs);
  readonly #pooled = new Float32Array(filters + inputs);
  readonly #pooledSlope = new Float32Array(filters + inputs);
  readonly #places = new Int32Array(filters);

  constructor(task: ConvolutionTask, random: () => number) {
    this.#task = task;
    this.#random = random;
    this.#vectors = new Adam(task.vectors.slice());
    const spread = 1 / Math.sqrt(reach * inputs);
    this.#kernels = new Adam(new Float32Array(reach * inputs * filters).map(() => normal(random) * spread));
    this.#output = new Adam(new Float32Array((filters + inputs) * classes).map(() => normal(random) * 0.05));
  }

  /** Adds the gradient of one text, under dropout of words, of inputs and of pooled values. */
  learn(row: number, rows: number): void {
    const { labels, texts, classWeights } = this.#task;
    const readings = this.#drawWords((texts[row] as readonly Reading[]).slice(0, tokensMax));
    this.#fill(readings);
    this.#pool(readings.length);
    const kept = this.#pooled.map(() => (this.#random() < 0.5 ? 0 : 2));
    const errors = this.#errors(kept, labels[row] as number).map(
      (error) => (error * (classWeights[labels[row] as number] as number)) / rows,
    );
    this.#backIntoPool(kept, errors);
    this.#backIntoInput(readings.length);
    for (const [index, { id }] of readings.entries()) {
      this.#touched.add(id);
      for (let input = 0; input < dimensions; input++)
        (this.#vectors.gradient[id * dimensions + input] as number) +=
          (this.#inputSlope[index * inputs + input] as number) * (this.#mask[input] as number);
    }
  }

  step(rate: number): void {
    for (const block of [this.#kernels, this.#bias, this.#output, this.#outputBias]) block.step(rate);
    for (const id of this.#touched) this.#vectors.step(rate, id * dimensions, (id + 1) * dimensions);
    this.#touched.clear();
  }

  parameters(): TrainedConvolution {
    return {
      vectors: this.#vectors.values,
      kernels: this.#kernels.values,
      bias: this.#bias.values,
      output: this.#output.values,
      outputBias: this.#outputBias.values,
    };
  }

  #drawWords(readings: readonly Reading[]): Reading[] {
    return readings.map((reading) => (this.#random() < 0.15 ? { ...reading, id: unknown } : reading));
  }

  #fill(readings: readonly Reading[]): void {
    for (let input = 0; input < inputs; input++) this.#mask[input] = this.#random() < 0.2 ? 0 : 1.25;
    for (const [index, { id, signals: given }] of readings.entries()) {
      const at = index * inputs;
      for (let input = 0; input < dimensions; input++)
        this.#input[at + input] =
          (this.#vectors.values[id * dimensions + input] as number) * (this.#mask[input] as number);
      for (let signal = 0; signal < signals; signal++)
        this.#input[at + dimensions + signal] =
          (given[signal] as number) * (this.#mask[dimensions + signal] as number);
    }
  }

  #pool(length: number): void {
    this.#pooled.fill(0);
    this.#places.fill(-1);
    const value = new Float32Array(filters);
    const shrink = 1 / Math.sqrt(Math.max(1, length));
    for (let index = 0; index < length; index++) {
      this.#respond(index, length, value);
      for (let filter = 0; filter < filters; filter++)
        if ((value[filter] as number) > (this.#pooled[filter] as number)) {
          this.#pooled[filter] = value[filter] as number;
          this.#places[filter] = index;
        }
      for (let input = 0; input < inputs; input++)
        (this.#pooled[filters + input] as number) += (this.#input[index * inputs + input] as number) * shrink;
    }
  }

  #respond(index: number, length: number, value: Float32Array): void {
    value.set(this.#bias.values);
    const kernels = this.#kernels.values;
    for (let place = 0; place < reach; place++) {
      const at = index + place - 1;
      if (at < 0 || at >= length) continue;
      for (let input = 0; input < inputs; input++) {
        const given = this.#input[at * inputs + input] as number;
        if (given === 0) continue;
        const kernel = (place * inputs + input) * filters;
        for (let filter = 0; filter < filters; filter++)
          (value[filter] as number) += given * (kernels[kernel + filter] as number);
      }
    }
  }

  #errors(kept: Float32Array, label: number): number[] {
    const scores = [...this.#outputBias.values];
    for (const [index, value] of this.#pooled.entries())
      for (let k = 0; k < classes; k++)
        (scores[k] as number) +=
          value * (kept[index] as number) * (this.#output.values[index * classes + k] as number);
    const most = Math.max(...scores);
    const powers = scores.map((score) => Math.exp(score - most));
    const sum = powers.reduce((a, b) => a + b);
    return powers.map((power, k) => power / sum - (k === label ? 1 : 0));
  }

  #backIntoPool(kept: Float32Array, errors: readonly number[]): void {
    for (const [k, error] of errors.entries()) (this.#outputBias.gradient[k] as number) += error;
    for (const [index, value] of this.#pooled.entries()) {
      let slope = 0;
      for (const [k, error] of errors.entries()) {
        (this.#output.gradient[index * classes + k] as number) += error * value * (kept[index] as number);
        slope += error * (this.#output.values[index * classes + k] as number);
      }
      this.#pooledSlope[index] = slope * (kept[index] as number);
    }
  }

  #backIntoInput(length: number): void {
    const shrink = 1 / Math.sqrt(Math.max(1, length));
    for (let index = 0; index < length; index++)
      for (let input = 0; input < inputs; input++)
        this.#inputSlope[index * inputs + input] = (this.#pooledSlope[filters + input] as number) * shrink;
    for (let filter = 0; filter < filters; filter++) {
      const slope = this.#pooledSlope[filter] as number;
      if ((this.#places[filter] as number) < 0 || slope === 0) continue;
      (this.#bias.gradient[filter] as number) += slope;
      for (let place = 0; place < reach; place++) {
        const at = (this.#places[filter] as number) + place - 1;
        if (at < 0 || at >= length) continue;
        for (let input = 0; input < inputs; input++) {
          const kernel = (place * inputs + input) * filters + filter;
          (this.#kernels.gradient[kernel] as number) += slope * (this.#input[at * inputs + input] as number);
          (this.#inputSlope[at * inputs + input] as number) +=
            slope * (this.#kernels.values[kernel] as number);
        }
      }
    }
  }
}
