/** For tests: PDF files written by hand, and tables in each format. */
export { pdfFrom, pdfOf } from './testing-pdf.ts';
export { tableWriters, testTables } from './testing-tables.ts';
