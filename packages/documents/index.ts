/** Texts of files: PDF, Word, HTML, tables, and their limits. */
export { unreadable } from './errors.ts';
export { extract, hasFallback, type ReadDocument, readerVersion } from './extract.ts';
export type { Block } from './formats/blocks.ts';
export { limits } from './limits.ts';
export { acceptedEndings, mediaTypeOf } from './media-types.ts';
export { recordsOf } from './records.ts';
export { entryIndent, entryTerm, hasRows, paragraphsOf, type Span, sentencesOf } from './sentences.ts';
