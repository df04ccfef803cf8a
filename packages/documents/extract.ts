import { cleanText, hasUnreadableLetters } from './characters.ts';
import { unreadable } from './errors.ts';
import type { Block, Extracted } from './formats/blocks.ts';
import { lettersWarning, textOfFile } from './letters.ts';

/** Grows with each version that reads files in another way, so that documents that were read by an earlier one can be read again. */
export const readerVersion = 5;

/** The text of a file as it was read. */
export interface ReadDocument {
  readonly blocks: readonly Block[];
  readonly title?: string | undefined;
  readonly pages?: number | undefined;
  /** Sentences about what may be missing or wrong. */
  readonly warnings: readonly string[];
}

type Extractor = (bytes: Uint8Array) => Extracted | Promise<Extracted>;

const office = 'application/vnd.openxmlformats-officedocument';
const openDocument = 'application/vnd.oasis.opendocument';

async function readOpenDocument(bytes: Uint8Array): Promise<Extracted> {
  return (await import('./formats/office/open-document.ts')).extractOpenDocument(bytes);
}

/** Extractor of each media type. A library is loaded with the first file that needs it. */
const extractors: Readonly<Record<string, Extractor>> = {
  'text/plain': ofText(async (text) => (await import('./formats/text.ts')).extractText(text)),
  'text/x-rst': ofText(async (text) => (await import('./formats/text.ts')).extractText(text)),
  'text/x-source': ofText(async (text) =>
    (await import('./formats/text.ts')).extractText(text, { hasHeadings: false }),
  ),
  'text/markdown': ofText(async (text) => (await import('./formats/markdown.ts')).extractMarkdown(text)),
  'text/html': ofText(async (text) => (await import('./formats/html.ts')).extractHtml(text)),
  'application/xml': ofText(async (text) => (await import('./formats/html.ts')).extractXml(text)),
  'text/csv': ofText(async (text) => (await import('./formats/table.ts')).extractCsv(text)),
  'text/tab-separated-values': ofText(async (text) =>
    (await import('./formats/table.ts')).extractCsv(text, '\t'),
  ),
  'application/json': ofText(async (text) => (await import('./formats/json.ts')).extractJson(text)),
  'application/jsonl': ofText(async (text) => (await import('./formats/json.ts')).extractJsonLines(text)),
  'application/x-ipynb+json': ofText(async (text) =>
    (await import('./formats/plain/notebook.ts')).extractNotebook(text),
  ),
  'application/x-subrip': ofText(async (text) =>
    (await import('./formats/plain/subtitles.ts')).extractSubtitles(text),
  ),
  'text/vtt': ofText(async (text) => (await import('./formats/plain/subtitles.ts')).extractSubtitles(text)),
  'text/calendar': ofText(async (text) =>
    (await import('./formats/plain/calendar.ts')).extractCalendar(text),
  ),
  'text/mdx': ofText(async (text) => (await import('./formats/plain/markup.ts')).extractMdx(text)),
  'text/x-org': ofText(async (text) => (await import('./formats/plain/markup.ts')).extractOrg(text)),
  'text/asciidoc': ofText(async (text) => (await import('./formats/plain/markup.ts')).extractAsciiDoc(text)),
  'application/xhtml+xml': ofText(async (text) => (await import('./formats/html.ts')).extractHtml(text)),
  'application/rtf': async (bytes) => (await import('./formats/rtf.ts')).extractRtf(bytes),
  'application/epub+zip': async (bytes) => (await import('./formats/epub.ts')).extractEpub(bytes),
  'application/pdf': async (bytes) => (await import('./formats/pdf/pdf.ts')).extractPdf(bytes),
  [`${office}.wordprocessingml.document`]: async (bytes) =>
    (await import('./formats/office/word/word.ts')).extractWord(bytes),
  [`${office}.spreadsheetml.sheet`]: async (bytes) =>
    (await import('./formats/office/spreadsheet.ts')).extractSpreadsheet(bytes),
  [`${office}.presentationml.presentation`]: async (bytes) =>
    (await import('./formats/office/slides.ts')).extractSlides(bytes),
  [`${openDocument}.text`]: readOpenDocument,
  [`${openDocument}.spreadsheet`]: readOpenDocument,
  [`${openDocument}.presentation`]: readOpenDocument,
  'message/rfc822': async (bytes) => (await import('./formats/mail.ts')).extractMail(bytes),
};

/** Extractors that tell less, for files of which others take too much time or memory. */
const fallbacks: Readonly<Record<string, Extractor>> = {
  'application/pdf': async (bytes) => (await import('./formats/pdf/fallback.ts')).extractPdfByPdfium(bytes),
};

/** True if files of the type can be read with `usesFallback`. */
export function hasFallback(mediaType: string): boolean {
  return fallbacks[mediaType] !== undefined;
}

/**
 * The text of a file in blocks. `usesFallback` reads a file that took too much time or memory in another way, which tells less, and
 * says so in a warning. Throws `unprocessable` if it cannot be read.
 */
export async function extract(
  mediaType: string,
  bytes: Uint8Array,
  { usesFallback = false }: { readonly usesFallback?: boolean | undefined } = {},
): Promise<ReadDocument> {
  const extractor = (usesFallback ? fallbacks : extractors)[mediaType];
  if (!extractor) throw unreadable(`Files of the type ${mediaType} cannot be read.`);
  const { blocks, title, pages, warnings = [] } = await extractor(bytes);
  const isArchive = archives.test(mediaType);
  const properties = isArchive ? await propertiesOf(bytes) : [];
  const cleaned = [...blocks, ...properties].map((block) => ({ ...block, text: cleanText(block.text) }));
  const charts = isArchive ? await chartsOf(bytes, blocks) : [];
  const lost = hasUnreadableLetters(cleaned.map(({ text }) => text))
    ? ['The letters of the text cannot be read, since the file does not tell which they are.']
    : [];
  return {
    blocks: cleaned,
    title: title === undefined ? undefined : cleanText(title),
    pages,
    warnings: [...warnings, ...charts, ...lost],
  };
}

/** Media types of archives whose properties and charts are in parts of their own. */
const archives = /^application\/vnd\.o/;

async function propertiesOf(bytes: Uint8Array): Promise<Block[]> {
  const { officeProperties, propertyBlocks } = await import('./formats/properties.ts');
  return propertyBlocks(officeProperties(bytes));
}

async function chartsOf(bytes: Uint8Array, blocks: readonly Block[]): Promise<string[]> {
  const { chartWarnings } = await import('./formats/office/charts.ts');
  return chartWarnings(
    bytes,
    blocks.map(({ text }) => text),
  );
}

/** An extractor of text in any encoding. Its lines end with newlines. */
function ofText(extractor: (text: string) => Extracted | Promise<Extracted>): Extractor {
  return async (bytes) => {
    const { text, letters } = textOfFile(bytes);
    const extracted = await extractor(text.replace(/\r\n?/g, '\n').toWellFormed());
    const warning = lettersWarning(letters);
    const warnings = [...(warning === undefined ? [] : [warning]), ...(extracted.warnings ?? [])];
    return { ...extracted, warnings };
  };
}
