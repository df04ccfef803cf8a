import { termsOf } from '#kit/search/terms.ts';

/** What is stored of a chunk so that questions find it: how often it has which words. */

/** The texts of a chunk: headings are indexed with it, but not quoted. */
export interface ChunkTexts {
  /** Of the document. */
  readonly title: string;
  /** The headings above it. */
  readonly section: string;
  readonly text: string;
}

/** Name and size of the built-in vectors, which are sparse: a stem is the number that it hashes to. */
export const embeddingModel = 'builtin-hash';
export const embeddingDimensions = 2 ** 18;

/** How much an occurrence counts in each text, in the units of a stored weight. */
const units = { title: 4, section: 3, text: 4 } as const satisfies Record<keyof ChunkTexts, number>;
const weightMax = 255;

/** What an occurrence in each text counts, beside one in the text itself. */
export const fieldWeights = { title: units.title / units.text, section: units.section / units.text } as const;

/** The vector of a chunk: for each stem its number and how often it occurs, packed into 32 bits. */
export function featuresOf(texts: ChunkTexts): Uint8Array {
  const weights = new Map<number, number>();
  for (const field of Object.keys(units) as (keyof ChunkTexts)[]) {
    for (const { stem } of termsOf(texts[field])) {
      const feature = featureOf(stem);
      weights.set(feature, Math.min(weightMax, (weights.get(feature) ?? 0) + units[field]));
    }
  }
  const packed = Uint32Array.from(weights, ([feature, weight]) => feature * 256 + weight);
  return new Uint8Array(packed.buffer);
}

/** The numbers of stems and their weights, as {@link featuresOf} packed them. */
export function unpackFeatures(bytes: Uint8Array): Uint32Array {
  // A copy, because the bytes of a driver may begin anywhere.
  return new Uint32Array(Uint8Array.from(bytes).buffer);
}

/** How many occurrences in the text a stored weight stands for. */
export function occurrencesOf(packed: number): number {
  return (packed & 255) / units.text;
}

/** The number of a stem: FNV-1a, folded to 18 bits. */
export function featureOf(stem: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < stem.length; index++) {
    hash = Math.imul(hash ^ stem.charCodeAt(index), 0x01000193);
  }
  return (hash ^ (hash >>> 18)) & (embeddingDimensions - 1);
}
