import type { Net } from './convolution.ts';
import type { Valence } from './lexicon.ts';
import type { Linear } from './linear.ts';

export interface Weights {
  readonly words: readonly string[];
  readonly lexicon: ReadonlyMap<string, Valence>;
  readonly linear: Linear;
  readonly nets: readonly Net[];
  /** Share of the linear model beside the nets, from 0 to 1. */
  readonly linearShare: number;
  readonly temperature: number;
}

// The file: a mark, the header's length (u32, little-endian), the header in JSON, and the sections one after the other.
export const mark = 'OSM1';
export const netParts = ['vectors', 'kernels', 'bias', 'output', 'outputBias'] as const;

export interface Section {
  readonly name: string;
  readonly kind: 'text' | 'int8' | 'float32';
  readonly bytes: number;
}

export interface Header {
  readonly linearScale: number;
  readonly vectorScales: readonly number[];
  readonly linearShare: number;
  readonly temperature: number;
  readonly sections: readonly Section[];
}

export type Values = string | Int8Array | Float32Array;

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
