import type { Block } from './blocks.ts';
import { elementTexts, readArchive } from './office/archive.ts';

/** Properties of a document beside its text. A date may be an ISO 8601 one with its time. */
export interface Properties {
  readonly title?: string | undefined;
  readonly author?: string | undefined;
  readonly subject?: string | undefined;
  readonly description?: string | undefined;
  readonly keywords?: string | undefined;
  readonly date?: string | undefined;
}

const labels = {
  title: 'Title',
  author: 'Author',
  subject: 'Subject',
  description: 'Description',
  keywords: 'Keywords',
  date: 'Created',
} as const;

/** The properties as a text, with those that say something. */
export function propertyBlocks(properties: Properties): Block[] {
  const lines = Object.entries(labels).flatMap(([name, label]) => {
    const value = properties[name as keyof Properties]?.replace(/\s+/g, ' ').trim() ?? '';
    const shown = name === 'date' ? (/^\d{4}-\d\d-\d\d/.exec(value)?.[0] ?? '') : value;
    return shown === '' ? [] : [`${label}: ${shown}`];
  });
  // The day alone says nothing of a document.
  return lines.length === 0 || lines.every((line) => line.startsWith('Created'))
    ? []
    : [{ text: lines.join('\n') }];
}

const coreProperties = 'docProps/core.xml';
const openProperties = 'meta.xml';

/** The properties of an Office or OpenDocument file. */
export function officeProperties(bytes: Uint8Array): Properties {
  const members = readArchive(bytes, (name) => name === coreProperties || name === openProperties);
  const xml = members.get(coreProperties) ?? members.get(openProperties);
  if (xml === undefined) return {};
  const texts = elementTexts(xml);
  const told = (...names: readonly string[]) =>
    names.map((name) => texts.get(name)?.join(', ')).find(Boolean);
  return {
    title: told('dc:title'),
    author: told('meta:initial-creator', 'dc:creator'),
    subject: told('dc:subject'),
    keywords: told('cp:keywords', 'meta:keyword'),
    date: told('dcterms:created', 'meta:creation-date'),
  };
}

/** A date of a PDF (`D:20260902140000+02'00'`) as a day of ISO 8601. */
export function pdfDay(date: unknown): string | undefined {
  const [, year, month, day] = /^(?:D:)?(\d{4})(\d\d)(\d\d)/.exec(String(date)) ?? [];
  return year === undefined ? undefined : `${year}-${month}-${day}`;
}
