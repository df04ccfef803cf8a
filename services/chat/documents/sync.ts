import type { Document } from './document.ts';
import { cleanName } from './names.ts';

/** A file of a folder that is to be the same as the library. */
export interface FolderFile {
  readonly path: string;
  readonly sha256: string;
}

/** What to do so that the library has the files of a folder. */
export interface SyncPlan {
  readonly add: readonly string[];
  readonly change: readonly string[];
  readonly remove: readonly { readonly document_id: string; readonly filename: string }[];
  readonly unchanged: readonly string[];
}

/** Compares the files of a folder with documents, by name and by content. */
export function planSync(files: readonly FolderFile[], documents: readonly Document[]): SyncPlan {
  const byName = new Map<string, Document[]>();
  for (const document of documents) {
    byName.set(document.filename, [...(byName.get(document.filename) ?? []), document]);
  }
  const kept = new Set<Document>();
  const [add, change, unchanged]: string[][] = [[], [], []];
  for (const { path, sha256 } of files) {
    const namesakes = byName.get(cleanName(path)) ?? [];
    const same = namesakes.find((document) => document.sha256 === sha256.toLowerCase());
    const list = same ? unchanged : namesakes.length > 0 ? change : add;
    list?.push(path);
    for (const document of same ? [same] : namesakes) kept.add(document);
  }
  const remove = documents
    .filter((document) => !kept.has(document))
    .map(({ publicId, filename }) => ({ document_id: publicId, filename }));
  return { add: add ?? [], change: change ?? [], remove, unchanged: unchanged ?? [] };
}
