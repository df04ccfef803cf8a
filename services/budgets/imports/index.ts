export { type ImportPlan, ImportRequest, type ImportResult, parseImportRequest } from './import.ts';
export { Imports } from './imports.ts';
export { tagText } from './row.ts';
