import { AppError } from '@octavo/core';
import { strFromU8, type UnzipFileInfo, unzipSync } from 'fflate';
import { Parser } from 'htmlparser2';
import { unreadable } from '../../errors.ts';
import { limits } from '../../limits.ts';

/** Macros are detected by the contents of the archive, not by its name. */
export function checkOffice(bytes: Uint8Array): void {
  const kinds = readArchive(bytes, (name) => {
    if (name.endsWith('vbaProject.bin')) throw withMacros();
    return name === '[Content_Types].xml';
  });
  if (/macroenabled/i.test(kinds.get('[Content_Types].xml') ?? '')) throw withMacros();
}

function withMacros(): AppError {
  return new AppError('unsupported_media_type', 'Files with macros are not supported.');
}

/**
 * The members of an archive that are wanted, as text by name. Throws `unprocessable` for an archive that has too many members, or would
 * become too large.
 */
export function readArchive(bytes: Uint8Array, isWanted: (name: string) => boolean): Map<string, string> {
  const members = inflate(bytes, isWanted);
  return new Map(Object.entries(members).map(([name, content]) => [name, strFromU8(content)]));
}

function inflate(bytes: Uint8Array, isWanted: (name: string) => boolean): Record<string, Uint8Array> {
  let count = 0;
  let total = 0;
  const filter = ({ name, size, originalSize }: UnzipFileInfo) => {
    total += originalSize;
    if (++count > limits.archiveMembersMax)
      throw unreadable(`The archive has more than ${limits.archiveMembersMax} members.`);
    const isBomb = originalSize > 1_000_000 && originalSize > size * limits.archiveRatioMax;
    if (isBomb || total > limits.archiveBytesMax) throw unreadable('The archive would become too large.');
    return isWanted(name);
  };
  try {
    return unzipSync(bytes, { filter });
  } catch (cause) {
    if (cause instanceof Error && cause.name === 'AppError') throw cause;
    throw unreadable('The archive is damaged.', cause);
  }
}

export type Attributes = Readonly<Record<string, string>>;

/** The attributes of each element of a name. */
export function elementsOf(xml: string, element: string): Attributes[] {
  const found: Attributes[] = [];
  readXml(xml, {
    open(name, attributes) {
      if (name === element) found.push(attributes);
    },
  });
  return found;
}

/** The texts of elements by their names. */
export function elementTexts(xml: string): Map<string, string[]> {
  const texts = new Map<string, string[]>();
  let text = '';
  readXml(xml, {
    open() {
      text = '';
    },
    text(part) {
      text += part;
    },
    close(name) {
      if (text.trim() !== '') texts.set(name, [...(texts.get(name) ?? []), text.trim()]);
      text = '';
    },
  });
  return texts;
}

interface XmlHandlers {
  open?(name: string, attributes: Attributes): void;
  text?(part: string): void;
  close?(name: string): void;
}

export function readXml(xml: string, { open, text, close }: XmlHandlers): void {
  const handlers = { onopentag: open, ontext: text, onclosetag: close };
  new Parser(handlers, { xmlMode: true, decodeEntities: true }).end(xml);
}

/** XML whose elements have no prefixes, of which each program writes its own. Attributes keep theirs, but for those of relations. */
export function withoutPrefixes(xml: string): string {
  return xml.replace(/<(\/?)[\w.-]+:/g, '<$1').replace(/\s[\w.-]+:id=/g, ' r:id=');
}

/** Compares names of members by the numbers at their ends. */
export function byNumber(one: string, other: string): number {
  return Number(/(\d+)\.xml$/.exec(one)?.[1] ?? 0) - Number(/(\d+)\.xml$/.exec(other)?.[1] ?? 0);
}
