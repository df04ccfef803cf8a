import { unreadable } from './errors.ts';
import type { Extracted } from './formats/blocks.ts';
import { decodeText, extractText } from './formats/text.ts';

type Extractor = (bytes: Uint8Array) => Extracted | Promise<Extracted>;

const word = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';
const spreadsheet = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';
const slides = 'application/vnd.openxmlformats-officedocument.presentationml.presentation';
const openText = 'application/vnd.oasis.opendocument.text';

/** Extractor of each media type. A library is loaded with the first file that needs it. */
const extractors: Readonly<Record<string, Extractor>> = {
  'text/plain': (bytes) => extractText(decodeText(bytes)),
  'text/x-rst': (bytes) => extractText(decodeText(bytes)),
  'text/x-source': (bytes) => extractText(decodeText(bytes), { hasHeadings: false }),
  'text/markdown': async (bytes) =>
    (await import('./formats/markdown.ts')).extractMarkdown(decodeText(bytes)),
  'text/html': async (bytes) => (await import('./formats/html.ts')).extractHtml(decodeText(bytes)),
  'application/xml': async (bytes) => (await import('./formats/html.ts')).extractXml(decodeText(bytes)),
  'text/csv': async (bytes) => (await import('./formats/table.ts')).extractCsv(decodeText(bytes)),
  'text/tab-separated-values': async (bytes) =>
    (await import('./formats/table.ts')).extractCsv(decodeText(bytes), '\t'),
  'application/json': async (bytes) => (await import('./formats/json.ts')).extractJson(decodeText(bytes)),
  'application/jsonl': async (bytes) =>
    (await import('./formats/json.ts')).extractJsonLines(decodeText(bytes)),
  'application/pdf': async (bytes) => (await import('./formats/pdf.ts')).extractPdf(bytes),
  [word]: async (bytes) => (await import('./formats/office/word.ts')).extractWord(bytes),
  [spreadsheet]: async (bytes) => (await import('./formats/office/spreadsheet.ts')).extractSpreadsheet(bytes),
  [slides]: async (bytes) => (await import('./formats/office/slides.ts')).extractSlides(bytes),
  [openText]: async (bytes) => (await import('./formats/office/open-text.ts')).extractOpenText(bytes),
  'message/rfc822': async (bytes) => (await import('./formats/mail.ts')).extractMail(bytes),
};

/** The text of a file in blocks. Throws `unprocessable` if it cannot be read. */
export async function extract(mediaType: string, bytes: Uint8Array): Promise<Extracted> {
  const extractor = extractors[mediaType];
  if (!extractor) throw unreadable(`Files of the type ${mediaType} cannot be read.`);
  return extractor(bytes);
}
