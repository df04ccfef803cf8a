/** Rows of files that people import. */
export {
  decoderOf,
  encodings,
  FileText,
  isEncoding,
  type Letters,
  lettersNote,
  lettersOf,
  textOfFile,
} from '@octavo/documents/letters';
export {
  DecimalSurvey,
  type Direction,
  directionOf,
  folded,
  isAmountLike,
  readMoney,
} from './imports/amounts.ts';
export {
  aboveNote,
  fieldsOfHeader,
  guessMapping,
  type ImportField,
  isHeaderOf,
  type Mapping,
} from './imports/columns.ts';
export { type DayOrder, dayOrderOf, dayOrders, ordersOf, readDay } from './imports/days.ts';
export { type Layout, layoutOf, widthOf } from './imports/layout.ts';
export {
  createRowParser,
  type FileRow,
  formatOf,
  ImportProblem,
  type RowParser,
  type Table,
  tableOf,
} from './imports/rows.ts';
export { type FileTasks, readInThread } from './imports/thread.ts';
