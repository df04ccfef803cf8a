export { limits as extractionLimits } from '@octavo/documents';
export { parseDocument } from './parse.ts';
export { Parser } from './parser.ts';
export type { ParsedChunk, ParsedChunks, ParsedText } from './parsing.ts';
