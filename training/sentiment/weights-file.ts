import {
  type Header,
  mark,
  netParts,
  type Section,
  type Values,
  type Weights,
} from '../../services/posts/sentiment/model/weights.ts';

/** The file that `decodeWeights` reads. */
export function encodeWeights(weights: Weights): Buffer {
  const { words, lexicon, linear, nets, linearShare, temperature } = weights;
  const parts: (readonly [string, Values])[] = [
    ['words', words.join('\n')],
    ['lexicon', [...lexicon.keys()].join('\n')],
    ['first', Int8Array.from(lexicon.values(), (one) => toStep(one.first))],
    ['second', Int8Array.from(lexicon.values(), (one) => toStep(one.second))],
    ['mean', Float32Array.from(lexicon.values(), (one) => one.mean)],
    ['linear', linear.weights],
    ['dense', linear.dense],
    ...nets.flatMap((net, index) => netParts.map((part) => [`${part}${index}`, net[part]] as const)),
  ];
  const bodies = parts.map(([, values]) => bytesOf(values));
  const header: Header = {
    linearScale: linear.scale,
    vectorScales: nets.map((net) => net.vectorScale),
    linearShare,
    temperature,
    sections: parts.map(([name, values], index) => ({
      name,
      kind: kindOf(values),
      bytes: bodies[index]?.length ?? 0,
    })),
  };
  const json = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(json.length);
  return Buffer.concat([Buffer.from(mark), length, json, ...bodies]);
}

function bytesOf(values: Values): Buffer {
  if (typeof values === 'string') return Buffer.from(values);
  return Buffer.from(values.buffer, values.byteOffset, values.byteLength);
}

function kindOf(values: Values): Section['kind'] {
  if (typeof values === 'string') return 'text';
  return values instanceof Int8Array ? 'int8' : 'float32';
}

function toStep(value: number): number {
  return Math.round(value * 127);
}
