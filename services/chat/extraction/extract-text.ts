import type { Block, Extracted } from './blocks.ts';

/** The text of bytes: UTF-8, UTF-16 with a byte order mark, or else Windows-1252. Line ends become newlines, NUL is dropped. */
export function decodeText(bytes: Uint8Array): string {
  const text = decoded(bytes);
  return text.replace(/\r\n?/g, '\n').replaceAll('\0', '').toWellFormed();
}

function decoded(bytes: Uint8Array): string {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return new TextDecoder('utf-16le').decode(bytes);
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return new TextDecoder('utf-16be').decode(bytes);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder('windows-1252').decode(bytes);
  }
}

const headingLengthMax = 100;

/** Plain text: paragraphs between blank lines. A short line by itself that does not end like a sentence is a heading. */
export function extractText(text: string, { hasHeadings = true } = {}): Extracted {
  const paragraphs = text
    .split(/\n[^\S\n]*\n\s*?(?=\S|$)/)
    .map((paragraph) => paragraph.replace(/^\n+|\s+$/g, ''))
    .filter((paragraph) => paragraph.trim() !== '');
  const blocks = paragraphs.flatMap((paragraph, index) =>
    hasHeadings ? withHeading(paragraph, index < paragraphs.length - 1) : [{ text: paragraph }],
  );
  return { blocks };
}

function withHeading(paragraph: string, hasMore: boolean): Block[] {
  const underlined = /^(\S.{0,99})\n([=\-~^"'#*+])\2{2,}(?:\n|$)/.exec(paragraph);
  if (underlined) {
    const level = underlined[2] === '=' || underlined[2] === '#' ? 1 : 2;
    const rest = paragraph.slice(underlined[0].length);
    return [{ text: underlined[1] ?? '', level }, ...(rest.trim() === '' ? [] : [{ text: rest }])];
  }
  if (hasMore && isHeading(paragraph)) return [{ text: paragraph, level: 2 }];
  return [{ text: paragraph }];
}

function isHeading(paragraph: string): boolean {
  if (paragraph.length > headingLengthMax || paragraph.includes('\n')) return false;
  if (!/^[\p{Lu}\p{N}\p{Lo}]/u.test(paragraph) || !/\p{L}/u.test(paragraph)) return false;
  return !/[.!?,;:…。！？)\]"”]$/u.test(paragraph) && paragraph.split(/\s+/).length <= 12;
}
