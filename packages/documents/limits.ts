/** Limits on the text of a document. */
export const limits = {
  textLengthMax: 5_000_000,
  pagesMax: 2_000,
  chunksMax: 20_000,
  archiveMembersMax: 2_000,
  archiveBytesMax: 200 * 1024 * 1024,
  archiveRatioMax: 100,
  /** Processor time for reading a file: by its size, at least and at most. */
  parseMsPerMib: 16_000,
  parseMsMin: 5_000,
  parseMsMax: 30_000,
  /** Processor time for the picture of a page. */
  drawMs: 10_000,
  parseMemoryBytes: 512 * 1024 * 1024,
} as const;
