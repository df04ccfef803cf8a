import type { Document } from './document.ts';
import { cleanName } from './names.ts';

/** A file of a folder that the library is to hold. */
interface FolderFile {
  readonly path: string;
  /** In hex. */
  readonly sha256: string;
}

/** Changes that give the library the files of a folder, by their paths. */
export interface SyncPlan {
  readonly add: string[];
  readonly change: string[];
  readonly unchanged: string[];
  readonly remove: { readonly document_id: string; readonly filename: string }[];
}

/**
 * Compares the files of a folder with documents, by name and by content. With a tag only documents that have it belong to the folder. The
 * library holds the same bytes once, so a copy is unchanged, and the document of a renamed or swapped file goes before the file is added.
 */
export function planSync(
  files: readonly FolderFile[],
  documents: readonly Document[],
  tag: string | undefined,
): SyncPlan {
  const [own, others]: [Document[], Document[]] = [[], []];
  for (const document of documents)
    (tag === undefined || document.tags.includes(tag) ? own : others).push(document);
  const named = files.map(({ path, sha256 }) => ({
    path,
    name: cleanName(path),
    sha256: sha256.toLowerCase(),
  }));
  const byNameAndBytes = new Map(
    own.map((document) => [`${document.sha256} ${document.filename}`, document]),
  );
  const kept = new Set(named.flatMap(({ name, sha256 }) => byNameAndBytes.get(`${sha256} ${name}`) ?? []));
  const stored = new Set([...kept, ...others].map(({ sha256 }) => sha256));
  const pending = named.filter(({ sha256 }) => !stored.has(sha256));
  const wanted = new Set(pending.map(({ sha256 }) => sha256));
  const former = Map.groupBy(
    own.filter((document) => !kept.has(document) && !wanted.has(document.sha256)),
    ({ filename }) => filename,
  );
  const plan: SyncPlan = {
    add: [],
    change: [],
    unchanged: named.filter(({ sha256 }) => stored.has(sha256)).map(({ path }) => path),
    remove: [],
  };
  for (const { path, name } of pending) {
    const document = former.get(name)?.shift();
    if (document) kept.add(document);
    (document ? plan.change : plan.add).push(path);
  }
  for (const document of own)
    if (!kept.has(document))
      plan.remove.push({ document_id: document.publicId, filename: document.filename });
  return plan;
}
