/** Text: CSV, dates, exact JSON, and what people can see. */
export {
  byteOrderMark,
  CsvScanner,
  csvCell,
  csvRecord,
  separatorIn,
  unguarded,
  withMark,
} from './text/csv.ts';
export { DateTimeError, dateTimeOf, formatDateTime, parseDateTime } from './text/date-time.ts';
export {
  numberText,
  parseExact,
  parseRaw,
  type RawJson,
  rawNumber,
  stringifyExact,
} from './text/exact-json.ts';
export { utf16 } from './text/utf16.ts';
export { isBlank, notBlank } from './text/visible-text.ts';
export { accentClass, lettersOf, respelled, withoutAccents } from './text/without-accents.ts';
