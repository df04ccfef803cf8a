export { tagText } from './formats/tags.ts';
export { type ImportPlan, ImportRequest, type ImportResult, parseImportRequest } from './import.ts';
export { Imports } from './imports.ts';
