export { checkMayChange, type Document, drawablePages, limits, shownLimits } from './document.ts';
export { deleteDocument, type IngestParts, resumeDocuments, type UploadOptions, upload } from './ingest.ts';
export { acceptedEndings } from './names.ts';
export { insertParsed, textOf } from './store.ts';
export { countUnread, knownLibraries, libraryId, tagsOfDocuments } from './store-libraries.ts';
export { countAll, findDocument, listDocuments, pageAt, presentFilenames, type Reach } from './store-list.ts';
export { receiveFiles, type UploadResults, uploadEach } from './upload-form.ts';
