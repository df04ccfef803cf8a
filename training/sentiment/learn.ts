import type { Net } from '../../services/posts/sentiment/model/convolution.ts';
import { dimensions, Vocabulary } from '../../services/posts/sentiment/model/convolution.ts';
import { FeatureExtractor, offsets } from '../../services/posts/sentiment/model/features.ts';
import { labels } from '../../services/posts/sentiment/model/labels.ts';
import type { Linear } from '../../services/posts/sentiment/model/linear.ts';
import type { Token } from '../../services/posts/sentiment/model/tokens.ts';
import { tokenize } from '../../services/posts/sentiment/model/tokens.ts';
import type { Weights } from '../../services/posts/sentiment/model/weights.ts';
import type { TrainedConvolution } from './convolution-training.ts';
import { trainConvolution } from './convolution-training.ts';
import type { Example } from './corpus.ts';
import { classWeights } from './corpus.ts';
import { readLexicons } from './lexicons.ts';
import { sparse, trainLinear } from './linear-training.ts';
import { trainVectors } from './vectors.ts';

const netSeeds = [101];

/** Learns everything but the temperature, which is left at 1. */
export function learn(examples: readonly Example[], report: (line: string) => void): Weights {
  const lexicon = readLexicons();
  const texts = examples.map((example) => tokenize(example.text));
  const words = frequentWords(texts);
  const vocabulary = new Vocabulary(words, lexicon);
  const extractor = new FeatureExtractor();
  const read = texts.map((tokens) => {
    const { readings, valences } = vocabulary.read(tokens);
    return { readings, features: sparse(extractor.featuresOf(tokens, valences)) };
  });
  report(`read ${examples.length} texts, ${words.length} words`);
  const task = {
    rows: examples.map((_, row) => row),
    labels: examples.map((example) => example.label),
    classWeights: classWeights(examples),
  };
  const linear = quantisedLinear(
    trainLinear({ ...task, features: read.map((one) => one.features), seed: 1 }),
  );
  report('learned the linear model');
  const vectors = trainVectors(
    read.map((one) => one.readings.map((reading) => reading.id)),
    words.length + 2,
    dimensions,
  );
  report('learned the word vectors');
  const nets = netSeeds.map((seed) => {
    const net = quantisedNet(
      trainConvolution({ ...task, texts: read.map((one) => one.readings), vectors, seed }),
    );
    report(`learned the net of seed ${seed}`);
    return net;
  });
  return { words, lexicon, linear, nets, linearShare: 0.6, temperature: 1 };
}

/** Words of at least two texts, the most frequent first. */
function frequentWords(texts: readonly (readonly Token[])[]): string[] {
  const counts = new Map<string, number>();
  for (const tokens of texts)
    for (const word of new Set(tokens.map((token) => token.text)))
      counts.set(word, (counts.get(word) ?? 0) + 1);
  return [...counts]
    .filter(([, count]) => count >= 2)
    .toSorted(([one, a], [other, b]) => b - a || (one < other ? -1 : 1))
    .map(([word]) => word);
}

function quantisedLinear(weights: Float32Array): Linear {
  const grams = weights.subarray(0, offsets.numbers * labels.length);
  const { steps, scale } = quantised(grams, 0.99999);
  return { weights: steps, dense: weights.slice(grams.length), scale };
}

function quantisedNet({ vectors, ...rest }: TrainedConvolution): Net {
  const { steps, scale } = quantised(vectors, 0.9999);
  return { vectors: steps, vectorScale: scale, ...rest };
}

/** Eight bits a value; what lies beyond the given share of all values is cut to it. */
function quantised(values: Float32Array, share: number): { steps: Int8Array; scale: number } {
  const sizes = values
    .filter((value) => value !== 0)
    .map(Math.abs)
    .toSorted();
  const scale = (sizes[Math.floor((sizes.length - 1) * share)] ?? 1) / 127;
  const steps = Int8Array.from(values, (value) => Math.max(-127, Math.min(127, Math.round(value / scale))));
  return { steps, scale };
}
