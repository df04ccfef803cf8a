import type { Net } from './convolution.ts';
import type { Valence } from './lexicon.ts';
import type { Linear } from './linear.ts';

export interface Weights {
  readonly words: readonly string[];
  readonly lexicon: ReadonlyMap<string, Valence>;
  readonly linear: Linear;
  readonly nets: readonly Net[];
  /** How far the linear model is believed beside the nets, from 0 to 1. */
  readonly linearShare: number;
  readonly temperature: number;
}

// The file: a mark, the header's length (u32, little-endian), the header in JSON, and the sections one after the other.
const mark = 'OSM1';

interface Section {
  readonly name: string;
  readonly kind: 'text' | 'int8' | 'float32';
  readonly bytes: number;
}

interface Header {
  readonly linearScale: number;
  readonly vectorScales: readonly number[];
  readonly linearShare: number;
  readonly temperature: number;
  readonly sections: readonly Section[];
}

type Values = string | Int8Array | Float32Array;

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

export function decodeWeights(file: Uint8Array): Weights {
  const bytes = Buffer.from(file.buffer, file.byteOffset, file.byteLength);
  if (bytes.toString('latin1', 0, 4) !== mark) throw new Error('not a weights file of the sentiment model');
  const start = 8 + bytes.readUInt32LE(4);
  const header = JSON.parse(bytes.toString('utf8', 8, start)) as Header;
  const sections = readSections(bytes, start, header.sections);
  const text = (name: string) => sections.get(name) as string;
  const floats = (name: string) => sections.get(name) as Float32Array;
  const steps = (name: string) => sections.get(name) as Int8Array;
  const nets = header.vectorScales.map((vectorScale, index) => ({
    vectorScale,
    vectors: steps(`vectors${index}`),
    kernels: floats(`kernels${index}`),
    bias: floats(`bias${index}`),
    output: floats(`output${index}`),
    outputBias: floats(`outputBias${index}`),
  }));
  const [first, second, mean] = [steps('first'), steps('second'), floats('mean')];
  return {
    words: text('words').split('\n'),
    lexicon: new Map(
      text('lexicon')
        .split('\n')
        .map((word, index) => [
          word,
          {
            first: (first[index] as number) / 127,
            second: (second[index] as number) / 127,
            mean: mean[index] as number,
          },
        ]),
    ),
    linear: { weights: steps('linear'), dense: floats('dense'), scale: header.linearScale },
    nets,
    linearShare: header.linearShare,
    temperature: header.temperature,
  };
}

const netParts = ['vectors', 'kernels', 'bias', 'output', 'outputBias'] as const;

function readSections(bytes: Buffer, start: number, sections: readonly Section[]): Map<string, Values> {
  const found = new Map<string, Values>();
  let at = start;
  for (const { name, kind, bytes: length } of sections) {
    const body = bytes.subarray(at, at + length);
    if (body.length < length) throw new Error('the weights file of the sentiment model is cut short');
    const copy = Uint8Array.from(body).buffer;
    if (kind === 'text') found.set(name, body.toString('utf8'));
    else found.set(name, kind === 'int8' ? new Int8Array(copy) : new Float32Array(copy));
    at += length;
  }
  return found;
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
