import { AppError, notFound, toAppError } from '@octavo/core';
import { csrfFieldName } from '@octavo/web/pages';
import {
  changeDocument,
  countFormerlyShared,
  countReadings,
  countVisible,
  deleteDocument,
  drawablePages,
  findDocument,
  findManaged,
  isWithin,
  keepFormerlyShared,
  limits,
  listDocuments,
  pageAt,
  placeOf,
  receiveFiles,
  shareFormerlyShared,
  textOf,
  type UploadResults,
  uploadEach,
  type Viewer,
} from '../documents/index.ts';
import { errorTable } from '../errors.ts';
import { namesOf } from '../gate/index.ts';
import { libraryFor, type Visibility, visibilities, visibilitiesFor } from '../library.ts';
import { pageRoutes, pathOf } from '../routes.ts';
import { detailsOf, findAnswer } from '../sessions/index.ts';
import {
  framed,
  idIn,
  type PageParts,
  type Routes,
  type Visitor,
  viewing,
  visitorsOf,
} from './pages-visitor.ts';
import { deletePage } from './views-dialogs.ts';
import { documentPage, documentsPage, type UploadedView, type VectorProgress } from './views-documents.ts';

const pageSize = 100;

export function addDocuments(routes: Routes, parts: PageParts): void {
  const access = visitorsOf(parts);
  routes.get(pageRoutes.documents, { access }, (visitor) => showDocuments(parts, visitor));
  routes.post(
    pageRoutes.documents,
    { access, accepts: 'multipart/form-data', bodyBytesMax: limits.requestBytesMax },
    (visitor) => uploadDocuments(parts, visitor),
  );
  routes.get(pageRoutes.document, { access }, (visitor) => showDocument(parts, visitor));
  addChanges(routes, parts);
}

function addChanges(routes: Routes, parts: PageParts): void {
  const { database, ingest } = parts;
  const access = visitorsOf(parts);
  routes.get(pageRoutes.deleteDocument, { access }, async (visitor) => {
    const viewer = await viewing(parts, visitor);
    const document = await findManaged(parts, viewer, idIn(visitor.visit));
    return deletePage(await framed(parts, visitor), {
      what: 'document',
      name: isWithin(viewer.reach, document) ? document.title : document.filename,
      text: 'Answers will no longer quote it.',
      action: pathOf(pageRoutes.deleteDocument, document.publicId),
      back: pageRoutes.documents,
    });
  });
  routes.post(pageRoutes.deleteDocument, { access }, async (visitor) => {
    const viewer = await viewing(parts, visitor);
    await deleteDocument(ingest, await findManaged(parts, viewer, idIn(visitor.visit)));
    return visitor.visit.redirect(pageRoutes.documents, { tone: 'good', text: 'The document was deleted.' });
  });
  routes.post(pageRoutes.shareDocument, { access }, async (visitor) => {
    const { visit } = visitor;
    const viewer = await viewing(parts, visitor);
    const document = await findManaged(parts, viewer, idIn(visit));
    const visibility = toVisibility(visit.field('visibility'));
    if (visibility === undefined)
      throw new AppError('validation_failed', 'Choose who may read the document.');
    await changeDocument(ingest, viewer, document, { visibility });
    const text =
      visibility === 'everyone'
        ? 'Everyone can read the document now.'
        : 'Only you can read the document now.';
    const isRead = visibility === 'everyone' || isWithin(viewer.reach, document);
    const next = isRead ? pathOf(pageRoutes.document, document.publicId) : pageRoutes.documents;
    return visit.redirect(next, { tone: 'good', text });
  });
  routes.post(pageRoutes.formerlyShared, { access }, async (visitor) => {
    const { identity } = await viewing(parts, visitor);
    if (!identity.isAdmin) throw new AppError('forbidden', 'Only administrators may decide this.');
    const isShared = visitor.visit.field('choice') === 'share';
    if (isShared) libraryFor(parts.library, identity, 'everyone');
    await (isShared ? shareFormerlyShared(database) : keepFormerlyShared(database));
    const text = isShared
      ? 'The documents are being read again, and then everyone finds them.'
      : 'The documents stay as they are.';
    return visitor.visit.redirect(pageRoutes.documents, { tone: 'good', text });
  });
}

async function showDocument(parts: PageParts, visitor: Visitor): Promise<string> {
  const { database, library } = parts;
  const viewer = await viewing(parts, visitor);
  const id = idIn(visitor.visit);
  const document = await findDocument(database, viewer, id);
  if (!document) throw notFound('document', id);
  const text = await textOf(database, document.id);
  const { start, end, message } = visitor.visit.request.query as Record<string, string | undefined>;
  const given = { start: offsetIn(start, text), end: offsetIn(end, text) };
  const quote =
    message &&
    (await quoteOf(parts, visitor, { message, document: id, start: Number(start), end: Number(end) }));
  const found = quote ? placeOf(text, { start: Number(start), end: Number(end) }, quote) : given;
  const passage = { text, ...(found ?? { start: 0, end: 0 }), lost: found ? undefined : quote };
  const isDrawn = passage.start < passage.end && drawablePages(document) > 0;
  const page = isDrawn ? await pageAt(database, document.id, passage.start) : undefined;
  return documentPage(await framed(parts, visitor), document, { ...passage, page, viewer, library });
}

/** The words of a passage that an answer of the visitor quotes; undefined if there is no such answer. */
async function quoteOf(
  { database, clock }: PageParts,
  { owner }: Visitor,
  { message, document, start, end }: { message: string; document: string; start: number; end: number },
): Promise<string | undefined> {
  const answer = await findAnswer(database, { owner, nowMs: clock.now() }, message);
  if (!answer) return undefined;
  const { sources, citations } = detailsOf(answer);
  const cited = citations.find(
    (each) =>
      each.kind === 'document' &&
      each.document_id === document &&
      each.quote_start === start &&
      each.quote_end === end,
  );
  const source = sources.find((each) => each.document_id === document && each.best?.start === start);
  return cited?.quote ?? source?.best?.text;
}

async function showDocuments(parts: PageParts, visitor: Visitor, uploaded?: UploadedView): Promise<string> {
  const { database, library, gate, oidc } = parts;
  const { q = '', after } = visitor.visit.request.query as { q?: string; after?: string };
  const text = String(q).trim().slice(0, 200);
  const viewer = await viewing(parts, visitor);
  const { isAdmin } = viewer.identity;
  const { documents: found, total } = await listDocuments(
    database,
    { reach: viewer.reach, hasOthers: isAdmin },
    {
      limit: pageSize,
      q: text === '' ? undefined : text,
      cursor: after === undefined ? undefined : String(after),
    },
  );
  const documents = found.slice(0, pageSize);
  const last = found.length > pageSize ? documents.at(-1) : undefined;
  const next = last && `${pageRoutes.documents}?${new URLSearchParams({ q: text, after: last.publicId })}`;
  return documentsPage(await framed(parts, visitor), {
    documents,
    total,
    q: text,
    next,
    uploaded,
    viewer,
    library,
    requiresSignIn: gate.requiresSignIn,
    offersSignIn: oidc !== undefined,
    names: isAdmin
      ? await namesOf(
          database,
          documents.map(({ owner }) => owner),
        )
      : new Map(),
    formerlyShared: isAdmin ? await countFormerlyShared(database) : 0,
    readings: await countReadings(database, viewer.reach),
    vectors: await vectorsFor(parts, viewer),
  });
}

/** The progress of vectors; undefined if all passages have theirs, or if none are being made. */
async function vectorsFor(parts: PageParts, { reach }: Viewer): Promise<VectorProgress | undefined> {
  const { database } = parts;
  const embeddings = await parts.embeddings.current();
  if (!embeddings?.isInUse) return undefined;
  const { chunks, embedded } = await countVisible(database, reach, embeddings.modelId);
  return embedded < chunks ? { chunks, embedded, problem: embeddings.problem } : undefined;
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

async function uploadForm(parts: PageParts, visitor: Visitor): Promise<UploadResults> {
  const { gate, ingest, library } = parts;
  const { visit } = visitor;
  const { files, fields } = await receiveFiles(visit.request);
  visit.checkToken(fields[csrfFieldName]);
  gate.take('upload', gate.clientOf(visit.request));
  // Browsers send an empty file without a name if none was chosen.
  const chosen = files.filter(({ filename }) => filename !== '');
  if (chosen.length === 0) throw new AppError('validation_failed', 'Choose at least one file.');
  const gone = new AbortController();
  visit.reply.raw.once('close', () => gone.abort());
  const { identity }: Viewer = await viewing(parts, visitor);
  const [usual] = visibilitiesFor(library, identity);
  return uploadEach(ingest, chosen, {
    owner: identity.owner,
    libraryKey: libraryFor(library, identity, toVisibility(fields.visibility) ?? usual),
    session: null,
    tags: [],
    onDuplicate: 'skip',
    waits: true,
    signal: gone.signal,
  });
}

function toVisibility(given: string | undefined): Visibility | undefined {
  return visibilities.find((each) => each === given);
}

function offsetIn(given: string | undefined, text: string): number {
  const offset = Number(given ?? 0);
  return Number.isSafeInteger(offset) ? Math.min(Math.max(offset, 0), text.length) : 0;
}
