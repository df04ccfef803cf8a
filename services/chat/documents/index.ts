export { changeDocument } from './change.ts';
export {
  checkMayChange,
  type Document,
  drawablePages,
  limits,
  mayChange,
  ownOwner,
  shownLimits,
} from './document.ts';
export { deleteDocument, type IngestParts, resumeDocuments, type UploadOptions, upload } from './ingest.ts';
export { placeOf } from './passage.ts';
export { rereadDocuments } from './reread.ts';
export { countUnread, knownLibraries, libraryId, tagsOfDocuments } from './store/libraries.ts';
export {
  countVisible,
  findDocument,
  isWithin,
  listDocuments,
  pageAt,
  presentFilenames,
  type Reach,
} from './store/list.ts';
export { addDocumentMetrics } from './store/metrics.ts';
export { countReadings, warningsOfQuoted } from './store/readings.ts';
export {
  countFormerlyShared,
  keepFormerlyShared,
  settleDocuments,
  shareFormerlyShared,
} from './store/settle.ts';
export { hideDocumentsOf, insertParsed, textOf } from './store/store.ts';
export { receiveFiles, type UploadResults, uploadEach } from './upload-form.ts';
export { findManaged, reachOf, type Viewer, viewerOf } from './viewer.ts';
