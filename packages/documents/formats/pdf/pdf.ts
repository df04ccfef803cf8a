import { getDocumentProxy } from 'unpdf';
import { unreadable } from '../../errors.ts';
import { limits } from '../../limits.ts';
import type { Block, Extracted } from '../blocks.ts';
import { pdfDay, propertyBlocks } from '../properties.ts';
import { type Annotation, withFields } from './forms.ts';
import type { TextItem } from './items.ts';
import type { Line } from './lines.ts';
import { linesOn, readPages, seenItems, tooManyPages } from './pages.ts';
import { drawnPages } from './unseen.ts';

/** The paragraphs and rows of each page, with the values of forms. Lines in much larger letters than most are headings. */
export async function extractPdf(bytes: Uint8Array): Promise<Extracted> {
  // First, as the other library takes the bytes away.
  const drawn = await drawnPages(bytes, limits.pagesMax);
  const pdf = await open(bytes);
  try {
    if (pdf.numPages > limits.pagesMax) throw tooManyPages();
    const pages: Line[][] = [];
    for (let number = 1; number <= pdf.numPages; number++) {
      const page = await pdf.getPage(number);
      const { items } = await page.getTextContent();
      const annotations = (await page.getAnnotations()) as readonly Annotation[];
      const own = drawn?.[number - 1];
      const seen = seenItems(items as readonly TextItem[], own);
      pages.push(linesOn(withFields(seen, annotations), own?.rules ?? []));
      page.cleanup();
    }
    const { blocks, warnings } = readPages(pages);
    return {
      blocks: [...blocks, ...(await propertiesOf(pdf))],
      pages: pdf.numPages,
      warnings: [...warnings, ...(drawn ? [] : [unseenUnknown])],
    };
  } finally {
    await pdf.loadingTask.destroy();
  }
}

async function propertiesOf(pdf: Awaited<ReturnType<typeof open>>): Promise<Block[]> {
  const { info } = await pdf.getMetadata();
  const { Title, Author, Subject, Keywords, CreationDate } = info as Readonly<Record<string, unknown>>;
  const told = (value: unknown) => (typeof value === 'string' ? value : undefined);
  return propertyBlocks({
    title: told(Title),
    author: told(Author),
    subject: told(Subject),
    keywords: told(Keywords),
    date: pdfDay(CreationDate),
  });
}

const unseenUnknown = 'Text in the color of its ground could not be told from other text.';
async function open(bytes: Uint8Array) {
  try {
    return await getDocumentProxy(ownBytes(bytes), { verbosity: 0 });
  } catch (cause) {
    const isLocked = cause instanceof Error && cause.name === 'PasswordException';
    throw unreadable(
      isLocked ? 'The file is protected by a password.' : 'The file is not a readable PDF.',
      cause,
    );
  }
}

/** The bytes, not copied if they are all of their buffer, and no `Buffer`, which the library refuses. */
function ownBytes({ buffer, byteOffset, length }: Uint8Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, length);
}
