export { type ExportRequest, exportExpenses, exportTask } from './exports.ts';
