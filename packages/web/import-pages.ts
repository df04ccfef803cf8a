/** Pages of imports: upload, preview and progress. */
export { receiveUpload, type UploadOptions } from './imports/upload.ts';
export {
  encodingField,
  encodingIn,
  fileForm,
  importForm,
  mappingFields,
  mappingIn,
  problemTable,
  type RowProblem,
} from './imports/views.ts';
