/** Vectors of the meaning of English words. */
export {
  meaningDimensions,
  meaningModel,
  meaningOf,
  packMeaning,
  packWordVectors,
  unpackMeaning,
  wordShare,
  wordWeight,
} from './meaning/word-vectors.ts';
