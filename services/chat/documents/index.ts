export { checkMayChange, type Document, limits, shownLimits } from './document.ts';
export { deleteDocument, type IngestParts, type UploadOptions, upload } from './ingest.ts';
export { acceptedEndings } from './names.ts';
export { resumeDocuments } from './resume.ts';
export { insertParsed, knownLibraries, libraryId, textOf } from './store.ts';
export { countAll, findDocument, listDocuments, type Reach } from './store-list.ts';
export { receiveFiles, type UploadResults, uploadEach } from './upload-form.ts';
