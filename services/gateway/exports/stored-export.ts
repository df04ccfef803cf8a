import { Type } from '@octavo/core';
import type { StoredObject } from '@octavo/data/objects';
import { csvFormat, type ExportFormat, exportName, jsonFormat } from './format.ts';

/** A file in the object store, in the S3 API's names. */
export const ExportObjectInfo = Type.Object(
  {
    Key: Type.String(),
    Size: Type.Integer(),
    LastModified: Type.String({ format: 'date-time' }),
    ContentType: Type.String(),
  },
  {
    title: 'ExportObjectInfo',
    examples: [
      {
        Key: 'exports/posts_export_20260131_081500.json',
        Size: 20_480,
        LastModified: '2026-01-31T08:15:02.000Z',
        ContentType: 'application/json; charset=utf-8',
      },
    ],
  },
);

export const exportFolder = 'exports/';

/** The key of this second, then the keys of the following seconds, for a day. */
export function* keysFrom(startMs: number, format: ExportFormat): Generator<string> {
  for (let second = 0; second < 86_400; second++) {
    yield exportFolder + exportName(startMs + second * 1_000, format);
  }
}

/** The name in a whole key or a bare name; nothing if it cannot be the name of an export. */
export function nameOf(keyOrName: string): string | undefined {
  const name = keyOrName.startsWith(exportFolder) ? keyOrName.slice(exportFolder.length) : keyOrName;
  return /^posts_export_\d{8}_\d{6}\.(json|csv)$/.test(name) ? name : undefined;
}

/** A stored export in the API's shape. */
export function toInfo({ key, sizeBytes, modifiedMs }: StoredObject) {
  const LastModified = new Date(modifiedMs).toISOString();
  return { Key: key, Size: sizeBytes, LastModified, ContentType: contentTypeOf(key) };
}

/** The headers of a download. */
export function headersOf({ key }: StoredObject): Record<'content-type' | 'content-disposition', string> {
  return {
    'content-type': contentTypeOf(key),
    'content-disposition': `attachment; filename="${nameOf(key)}"`,
  };
}

/** The media type of a stored export. */
export function contentTypeOf(key: string): string {
  const format = key.endsWith('.csv') ? csvFormat({ withMark: false, safe: true }) : jsonFormat;
  return format.contentType;
}
