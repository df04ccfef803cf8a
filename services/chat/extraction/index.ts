export { limits as extractionLimits } from './limits.ts';
export { parseDocument } from './parse.ts';
export { Parser } from './parser.ts';
export type { ParsedChunk, ParsedChunks, ParsedText } from './parsing.ts';
