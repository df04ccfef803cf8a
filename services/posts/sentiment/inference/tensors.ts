import { AppError } from '@octavo/core';
import type { Classification } from '../classifier.ts';
import { type Label, labels } from '../model/labels.ts';

/** Tensors that a model reads and writes. */
export interface Tensors {
  readonly input: string;
  readonly output: string;
  /** Texts go in as `[n, 1]`, not `[n]`. */
  readonly isColumn: boolean;
}

/** Metadata of a model on a server, as far as it matters here. */
export interface InferenceMetadata {
  readonly inputs?: readonly TensorMetadata[];
  readonly outputs?: readonly TensorMetadata[];
}

interface TensorMetadata {
  readonly name?: string;
  readonly datatype?: string;
  readonly shape?: readonly number[];
}

/** The tensors by their given names; without them the one of BYTES, and the first of floating point whose rows have three. */
export function tensorsOf(
  { inputs = [], outputs = [] }: InferenceMetadata,
  named: { readonly input?: string | undefined; readonly output?: string | undefined },
): Tensors {
  const input = inputs.find(({ name, datatype }) =>
    named.input === undefined ? datatype === 'BYTES' : name === named.input,
  );
  const output = outputs.find(({ name, datatype, shape }) =>
    named.output === undefined
      ? datatype?.startsWith('FP') && [3, -1].includes(shape?.at(-1) ?? 0)
      : name === named.output,
  );
  if (!input?.name) throw misfit(`no input ${named.input ?? 'of BYTES'}`);
  if (!output?.name) throw misfit(`no output ${named.output ?? 'of three probabilities'}`);
  return { input: input.name, output: output.name, isColumn: input.shape?.length === 2 };
}

/** The probabilities of each row of the response; 32-bit values are normalized to a sum of 1. */
export function readProbabilities(
  answer: unknown,
  expected: { readonly output: string; readonly rows: number; readonly labels: readonly Label[] },
): Classification[] {
  const { outputs } = (answer ?? {}) as { outputs?: readonly { name?: string; data?: readonly unknown[] }[] };
  const tensor = Array.isArray(outputs) ? outputs.find(({ name }) => name === expected.output) : undefined;
  const numbers = Array.isArray(tensor?.data) ? tensor.data.flat(2) : [];
  const width = expected.labels.length;
  if (numbers.length !== expected.rows * width) {
    throw misfit(`${numbers.length} numbers for ${expected.rows} texts`);
  }
  return Array.from({ length: expected.rows }, (_, row) =>
    classificationOf(numbers.slice(row * width, (row + 1) * width), expected.labels),
  );
}

function classificationOf(row: readonly unknown[], columns: readonly Label[]): Classification {
  const shares = row.filter((share) => typeof share === 'number' && share >= 0 && share <= 1.01) as number[];
  const sum = shares.reduce((total, share) => total + share, 0);
  if (shares.length !== columns.length || Math.abs(sum - 1) > 0.01) {
    throw misfit(`${JSON.stringify(row)} are not probabilities`);
  }
  const shareOf = (label: Label) => (shares[columns.indexOf(label)] as number) / sum;
  const probabilities = {
    negative: shareOf('negative'),
    neutral: shareOf('neutral'),
    positive: shareOf('positive'),
  };
  return { label: labels.reduce((a, b) => (probabilities[b] > probabilities[a] ? b : a)), probabilities };
}

function misfit(why: string): AppError {
  return new AppError('unavailable', 'The inference server sent an invalid response.', {
    cause: new Error(`inference server: ${why}`),
  });
}
