/** Errors and fields in the words of the dialect, for edges only. */
export { drfErrors, fieldErrors, notFoundError } from './errors.ts';
export {
  blankable,
  choice,
  longList,
  missingRow,
  nullable,
  optional,
  primaryKey,
  primaryKeys,
  text,
} from './fields.ts';
