import type { Dialect } from '@octavo/data';
import { type PreparedWords, prepareWords, termsOf, type WordLayout } from '@octavo/data/terms';
import { meaningOf, packMeaning } from '@octavo/reader/meaning';

/**
 * Prepares what is stored of a chunk: its words, and its vector. No database is loaded here, because the process that parses
 * documents does this work.
 */

/** The texts of a chunk: headings are indexed with it, but not quoted. */
export interface ChunkTexts {
  /** Of the document. */
  readonly title: string;
  /** The headings above it. */
  readonly section: string;
  readonly text: string;
}

export const wordTable = 'chunk_words';
export const wordLayout = {
  weights: { title: 1.2, section: 0.8, text: 1 },
  hasPrefixes: false,
} as const satisfies WordLayout<keyof ChunkTexts>;

/** Name and size of the built-in vectors, which are sparse: a stem is the number that it hashes to. */
export const embeddingModel = 'builtin-hash';
export const embeddingDimensions = 2 ** 18;

export interface IndexedChunk {
  readonly words: PreparedWords;
  /** Its vector; see {@link packFeatures}. */
  readonly features: Uint8Array;
  /** Its vector of meaning, by `packMeaning`. */
  readonly meaning: Uint8Array;
}

export function indexChunk(dialect: Dialect, texts: ChunkTexts, library: number): IndexedChunk {
  const words = prepareWords(dialect, wordLayout, texts, library);
  return { words, features: featuresOf(texts), meaning: packedMeaningOf(texts) };
}

/** The headings of a chunk below the title of its document, so that the words of the title do not count twice. */
export function sectionBelow(title: string, section: string): string {
  if (section === title) return '';
  return section.startsWith(`${title} > `) ? section.slice(title.length + 3) : section;
}

/** The meaning of a chunk with its headings, as it is stored. */
export function packedMeaningOf({ title, section, text }: ChunkTexts): Uint8Array {
  return packMeaning(meaningOf(`${title}\n${section}\n${text}`));
}

/** Weight of an occurrence in each text, in the units of a stored weight. */
const units = { title: 4, section: 3, text: 4 } as const satisfies Record<keyof ChunkTexts, number>;
const weightMax = 255;

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

/** Returns the number of occurrences in the text that a stored weight stands for. */
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
