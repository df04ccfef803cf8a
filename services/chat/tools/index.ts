export { type Called, type ForeignTool, type Params, ToolCalls } from './calls.ts';
export { type DomainTool, domainTools } from './catalog.ts';
export { DomainApi } from './domain-api.ts';
export { Names } from './names.ts';
export { callPlanned, concernsData, partForDocuments } from './planner.ts';
export { apiSentences } from './sentences.ts';
export { type ApiData, type ApiRecord, noData, type TraceStep } from './trace.ts';
export type { ApiQuote } from './writer.ts';
