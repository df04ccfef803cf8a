/** Limits on the text of a document. */
export const limits = {
  textLengthMax: 5_000_000,
  pagesMax: 2_000,
  chunksMax: 20_000,
  archiveMembersMax: 2_000,
  archiveBytesMax: 200 * 1024 * 1024,
  archiveRatioMax: 100,
  parseMs: 30_000,
  drawMs: 10_000,
  parseMemoryBytes: 512 * 1024 * 1024,
} as const;
