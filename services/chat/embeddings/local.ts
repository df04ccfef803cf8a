import { type Encoder, EncoderError, encoderDimensions, encoderModel } from '@octavo/encoder';
import { languageFor } from '@octavo/reader';
import { EmbeddingFailure } from './failure.ts';
import type { VectorSource } from './source.ts';

/** Share of Latin letters without accents below which a text is not English. */
const latinMin = 0.9;

/** The encoder of this machine. With `isEnglishOnly` other texts get no vectors, as it has learned from English alone. */
export function localEncoder(encoder: Encoder, isEnglishOnly: boolean): VectorSource {
  return {
    provider: 'local',
    title: 'The encoder',
    model: encoderModel,
    dimensions: encoderDimensions,
    leavesOut: (text) => isEnglishOnly && !isEnglish(text),
    trustIn,
    async vectors({ texts, purpose, signal }) {
      try {
        const encoded = await encoder.encode(texts, { isUrgent: purpose === 'question', signal });
        return encoded.map(({ vector }) => vector);
      } catch (error) {
        if (error instanceof EncoderError) throw new EmbeddingFailure(error.message, error.isRefusal);
        throw error;
      }
    },
  };
}

/** Share of the best cosine by which the last of the nearest is behind, without any trust and with all of it; see docs/decisions/048. */
const spread = { none: 0.1, full: 0.22 };

/** An encoder that has not learned the words of a field finds all of its passages alike. */
function trustIn(cosines: readonly number[]): number {
  const [first = 0, last = 0] = [cosines[0], cosines.at(-1)];
  const behind = first > 0 ? 1 - last / first : 0;
  return Math.max(0, Math.min(1, (behind - spread.none) / (spread.full - spread.none)));
}

/** Returns false where the words or the letters are of another language. Names and numbers pass. */
export function isEnglish(text: string): boolean {
  const letters = text.match(/\p{L}/gu)?.length ?? 0;
  const latin = text.match(/[a-z]/gi)?.length ?? 0;
  return latin >= latinMin * letters && languageFor(text, undefined) === 'en';
}
