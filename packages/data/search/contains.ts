import { accentClass, lettersOf, respelled } from '@octavo/core/text';
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Dialect } from '../db/index.ts';

/**
 * The condition that a text contains a word, without regard to case and accents in any script, with the same result on both databases. It
 * reads every text, so it is for tables that a list or a filter has narrowed, or that a person waits for.
 */
export function containsWord(dialect: Dialect, text: RawBuilder<unknown>, word: string): RawBuilder<SqlBool> {
  const letters = lettersOf(word);
  if (dialect === 'sqlite') return isInSqlite(text, letters);
  // Not lower(): which letters it knows depends on the locale of the database.
  return sql<SqlBool>`normalize(cast(${text} as text), NFKD) ~ ${patternOf([...letters])}`;
}

/** `letters_of` is a function of every connection. A text in ASCII does without, which takes a tenth of the time. */
function isInSqlite(text: RawBuilder<unknown>, letters: string): RawBuilder<SqlBool> {
  const pattern = `%${letters.replace(/[\\%_]/g, '\\$&')}%`;
  return sql<SqlBool>`case when octet_length(${text}) = length(${text}) then ${text} like ${pattern} escape '\\'
    else instr(letters_of(${text}), ${letters}) > 0 end`;
}

/** The regular expression that finds these letters in a text in NFKD, of either case and with any accents. */
function patternOf(letters: readonly string[]): string {
  let pattern = '';
  for (let index = 0; index < letters.length; index++) {
    const [first = '', second] = letters.slice(index, index + 2);
    const both = second === undefined ? '' : lettersWritten(first + second);
    if (both === '') pattern += classOf(letters, index);
    else {
      pattern += `(?:${classOf(letters, index)}${accentClass}*${classOf(letters, index + 1)}|[${both}])`;
      index++;
    }
    pattern += index < letters.length - 1 ? `${accentClass}*` : '';
  }
  return pattern;
}

/** A letter in both cases. The first may be the end of a letter such as ß, the last its beginning. */
function classOf(letters: readonly string[], index: number): string {
  const letter = letters[index] as string;
  if (/[\x21-\x2f\x3a-\x40\x5b-\x60\x7b-\x7e]/.test(letter)) return `\\${letter}`;
  const upper = letter.toUpperCase();
  const begun = index === letters.length - 1 ? respelledIf((written) => written.startsWith(letter)) : '';
  const ended = index === 0 ? respelledIf((written) => written.endsWith(letter)) : '';
  const other = upper.toLowerCase() === letter ? upper : '';
  return `[${letter}${other}${lettersWritten(letter)}${begun}${ended}]`;
}

function lettersWritten(written: string): string {
  return respelledIf((each) => each === written);
}

function respelledIf(isMeant: (written: string) => boolean): string {
  return respelled.flatMap(([letters, written]) => (isMeant(written) ? letters : [])).join('');
}
