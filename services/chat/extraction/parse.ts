import { isBlank } from '@octavo/core/text';
import { extract, limits, unreadable } from '@octavo/documents';
import { indexChunk, sectionBelow } from '../indexing.ts';
import { chunkBlocks } from './chunking.ts';
import type { ParsedChunks, ParsedText, ParseRequest } from './parsing.ts';

/** Number of chunks in a message. */
const batchSize = 250;

/** The text of a document, then its chunks in batches, ready to be stored. */
export async function* parseDocument(request: ParseRequest): AsyncGenerator<ParsedText | ParsedChunks> {
  const { bytes, filename, mediaType, library, dialect, usesFallback } = request;
  const read = await extract(mediaType, bytes, { usesFallback });
  const { blocks, title: given, pages = null, warnings } = read;
  const { text, title: heading, chunks } = chunkBlocks(blocks);
  if (text.length > limits.textLengthMax) {
    throw unreadable(`The text of a document must be at most ${limits.textLengthMax} characters.`);
  }
  if (chunks.length > limits.chunksMax) {
    throw unreadable(`A document must have at most ${limits.chunksMax} chunks.`);
  }
  const titles = [request.title, given, heading, filename.replace(/\.[^.]+$/, '')];
  const title = titles.find((each) => each !== undefined && !isBlank(each))?.trim() ?? filename;
  const empty = chunks.length === 0 ? ['The document has no text.'] : [];
  yield {
    kind: 'text',
    text,
    title,
    pages,
    chunkCount: chunks.length,
    warnings: [...warnings, ...empty],
  };
  for (let first = 0; first < chunks.length; first += batchSize) {
    const batch = chunks.slice(first, first + batchSize).map((chunk, index) => {
      const quoted = text.slice(chunk.start, chunk.end);
      const section = sectionBelow(title, chunk.section);
      const indexed = indexChunk(dialect, { title, section, text: quoted }, library);
      return { ...chunk, ...indexed, text: quoted, place: first + index };
    });
    yield { kind: 'chunks', chunks: batch };
  }
}
