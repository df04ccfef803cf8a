/** For tests: PDF files written by hand. */
export { pdfOf } from './testing-pdf.ts';
