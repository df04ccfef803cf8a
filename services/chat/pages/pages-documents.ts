import { AppError, notFound, toAppError } from '#kit/base/errors.ts';
import { csrfFieldName } from '#kit/html/pages/csrf.ts';
import {
  checkMayChange,
  type Document,
  deleteDocument,
  drawablePages,
  findDocument,
  limits,
  listDocuments,
  pageAt,
  receiveFiles,
  textOf,
  type UploadResults,
  uploadEach,
} from '../documents/index.ts';
import { errorTable } from '../errors.ts';
import { pageRoutes, pathOf } from '../routes.ts';
import {
  framed,
  idIn,
  type PageParts,
  type Routes,
  reachOf,
  type Visitor,
  visitorsOf,
} from './pages-visitor.ts';
import { deletePage } from './views-dialogs.ts';
import { documentPage, documentsPage, type UploadedView } from './views-documents.ts';

const pageSize = 100;

export function addDocuments(routes: Routes, parts: PageParts): void {
  const { database, ingest, gate } = parts;
  const access = visitorsOf(parts);
  routes.get(pageRoutes.documents, { access }, (visitor) => showDocuments(parts, visitor));
  routes.post(
    pageRoutes.documents,
    { access, accepts: 'multipart/form-data', bodyBytesMax: limits.requestBytesMax },
    (visitor) => uploadDocuments(parts, visitor),
  );
  routes.get(pageRoutes.document, { access }, async (visitor) => {
    const document = await findOr404(parts, visitor);
    const text = await textOf(database, document.id);
    const { start, end } = visitor.visit.request.query as { start?: string; end?: string };
    const passage = { text, start: offsetIn(start, text), end: offsetIn(end, text) };
    const isDrawn = passage.start < passage.end && drawablePages(document) > 0;
    const page = isDrawn ? await pageAt(database, document.id, passage.start) : undefined;
    return documentPage(await framed(parts, visitor), document, { ...passage, page });
  });
  routes.get(pageRoutes.deleteDocument, { access }, async (visitor) => {
    const { title, publicId } = await findOr404(parts, visitor);
    return deletePage(await framed(parts, visitor), {
      what: 'document',
      name: title,
      text: 'Answers will no longer quote it.',
      action: pathOf(pageRoutes.deleteDocument, publicId),
      back: pageRoutes.documents,
    });
  });
  routes.post(pageRoutes.deleteDocument, { access }, async (visitor) => {
    const document = await findOr404(parts, visitor);
    checkMayChange(document, visitor.owner, gate.hasSignIn);
    await deleteDocument(ingest, document);
    return visitor.visit.redirect(pageRoutes.documents, { tone: 'good', text: 'The document was deleted.' });
  });
}

async function showDocuments(parts: PageParts, visitor: Visitor, uploaded?: UploadedView): Promise<string> {
  const { visit, owner } = visitor;
  const { q = '', after } = visit.request.query as { q?: string; after?: string };
  const text = String(q).trim().slice(0, 200);
  const { documents: found, total } = await listDocuments(parts.database, reachOf(parts, owner), {
    limit: pageSize,
    q: text === '' ? undefined : text,
    cursor: after === undefined ? undefined : String(after),
  });
  const documents = found.slice(0, pageSize);
  const last = found.length > pageSize ? documents.at(-1) : undefined;
  const next = last && `${pageRoutes.documents}?${new URLSearchParams({ q: text, after: last.publicId })}`;
  return documentsPage(await framed(parts, visitor), { documents, total, q: text, next, uploaded });
}

/** For browsers without JavaScript: the page again, with what became of each file. */
async function uploadDocuments(parts: PageParts, visitor: Visitor): Promise<string> {
  const { reply } = visitor.visit;
  try {
    const { uploads, failures } = await uploadForm(parts, visitor);
    const named = (isKnown: boolean) =>
      uploads.filter(({ isDuplicate }) => isDuplicate === isKnown).map(({ document }) => document.filename);
    const failed = failures.map(({ filename, error }) => ({ filename, message: error.message }));
    const [first] = failures;
    if (first && uploads.length === 0) reply.code(errorTable[first.error.code].status);
    return await showDocuments(parts, visitor, { added: named(false), known: named(true), failed });
  } catch (thrown) {
    const error = toAppError(thrown);
    if (error.code === 'internal') throw thrown;
    reply.code(errorTable[error.code].status);
    const failed = [{ filename: '', message: error.message }];
    return showDocuments(parts, visitor, { added: [], known: [], failed });
  }
}

async function uploadForm(parts: PageParts, { visit, owner }: Visitor): Promise<UploadResults> {
  const { gate, ingest } = parts;
  const { files, fields } = await receiveFiles(visit.request);
  visit.checkToken(fields[csrfFieldName]);
  gate.take('upload', gate.clientOf(visit.request));
  // Browsers send an empty file without a name if none was chosen.
  const chosen = files.filter(({ filename }) => filename !== '');
  if (chosen.length === 0) throw new AppError('validation_failed', 'Choose at least one file.');
  const gone = new AbortController();
  visit.reply.raw.once('close', () => gone.abort());
  const { libraryKey } = reachOf(parts, owner);
  return uploadEach(ingest, chosen, {
    owner,
    libraryKey,
    session: null,
    tags: [],
    hasSignIn: gate.hasSignIn,
    onDuplicate: 'skip',
    waits: true,
    signal: gone.signal,
  });
}

async function findOr404(parts: PageParts, { visit, owner }: Visitor): Promise<Document> {
  const document = await findDocument(parts.database, reachOf(parts, owner), idIn(visit));
  if (!document) throw notFound('document', idIn(visit));
  return document;
}

function offsetIn(given: string | undefined, text: string): number {
  const offset = Number(given ?? 0);
  return Number.isSafeInteger(offset) ? Math.min(Math.max(offset, 0), text.length) : 0;
}
