import { unreadable } from '../errors.ts';
import { textOfFile } from '../letters.ts';
import type { Extracted } from './blocks.ts';
import { extractHtml } from './html.ts';
import { elementsOf, elementTexts, readArchive, withoutPrefixes } from './office/archive.ts';

/** The pages of a book in their order. */
export function extractEpub(bytes: Uint8Array): Extracted {
  const members = readArchive(bytes, (name) => /\.(?:opf|x?html?|xml)$/i.test(name));
  const container = members.get('META-INF/container.xml') ?? '';
  const book = elementsOf(container, 'rootfile')[0]?.['full-path'];
  const described = withoutPrefixes(members.get(book ?? '') ?? '');
  if (book === undefined || described === '') throw unreadable('The file is not an EPUB book.');
  const items = new Map(elementsOf(described, 'item').map(({ id, href }) => [id, href]));
  const missing: string[] = [];
  const told = new Set<string>();
  const blocks = elementsOf(described, 'itemref').flatMap(({ idref }) => {
    const href = items.get(idref) ?? '';
    const page = members.get(pathOf(href, book));
    if (page === undefined) missing.push(href);
    const read = extractHtml(textOfFile(Buffer.from(page ?? '')).text);
    for (const warning of read.warnings ?? []) told.add(warning);
    return read.blocks;
  });
  const warnings =
    missing.length > 0 ? [`Parts of the book are missing: ${missing.slice(0, 20).join(', ')}`] : [];
  return { blocks, title: elementTexts(described).get('title')?.[0], warnings: [...warnings, ...told] };
}

/** The path of a part in the archive, as the description of the book names it. */
function pathOf(href: string, book: string): string {
  try {
    return decodeURIComponent(new URL(href, `file:///${encodeURI(book)}`).pathname.slice(1));
  } catch {
    return href;
  }
}
