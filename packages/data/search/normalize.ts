import { utf16 } from '@octavo/core/text';
import { type RawBuilder, sql } from 'kysely';

/** Stands between the fields of a row. No normalized text has an upper-case letter, so no needle reaches across it. */
const divider = 'A';

/**
 * The form in which texts are compared: NFC, each code point in simple lower case. `toLowerCase` on a whole text would
 * write a Greek final sigma and would make two code points of İ, so that a part would not be found in its whole.
 */
export function normalize(text: string): string {
  return text.normalize('NFC').replaceAll('\u03a3', '\u03c3').replaceAll('\u0130', 'i').toLowerCase();
}

/**
 * Returns the normalized text that a row stores beside its texts so that SQL can search them: `null` if lower-casing ASCII,
 * which both databases do alike, gives the normalized text. That is so for nearly all texts.
 */
export function storedNormalized(texts: readonly string[]): string | null {
  if (texts.every(isPlain)) return null;
  const normalized = texts.map(normalize);
  if (normalized.every((text, index) => isLowerAscii(text, texts[index] as string))) return null;
  return normalized.join(divider);
}

/**
 * The SQL expression for the normalized text of a row. `columns` hold its texts, and `stored` the result of {@link
 * storedNormalized} for them. On PostgreSQL the trigram index is on the same expression.
 */
export function normalizedText(options: {
  readonly table: string;
  readonly columns: readonly string[];
  readonly stored: string;
}): RawBuilder<string> {
  const { table, columns, stored } = options;
  const lower = columns.map((column) => sql`lower(${sql.ref(`${table}.${column}`)})`);
  const joined = sql.join(lower, sql.raw(` || '${divider}' || `));
  return sql<string>`coalesce(${sql.ref(`${table}.${stored}`)}, ${joined})`;
}

/** Returns true if every character except `A` to `Z` is certain to stay the same. This takes a tenth of the time of normalizing. */
function isPlain(text: string): boolean {
  plainUnits ??= findPlainUnits();
  const units = utf16(text);
  for (let index = 0; index < text.length; index++) {
    if (plainUnits[units[index] as number] === 0) return false;
  }
  return true;
}

/** Table by UTF-16 unit: 1 if normalizing never changes it, in any context. Created on first use. */
let plainUnits: Uint8Array | undefined;

/**
 * Marks (except variation selectors) and jamo are not plain, because they join or trade places with their neighbors.
 * Beyond the Basic Multilingual Plane only emoji are plain, by the first unit of their pairs.
 */
function findPlainUnits(): Uint8Array {
  const joins = /[\p{M}\u1160-\u11ff\ud7b0-\udfff]/u;
  const changes = /[\p{Changes_When_NFKC_Casefolded}\p{Changes_When_Lowercased}]/u;
  const units = Uint8Array.from({ length: 0x10000 }, (_, unit) => {
    const character = String.fromCharCode(unit);
    if (joins.test(character)) return 0;
    return isCapital(unit) || !changes.test(character) || normalize(character) === character ? 1 : 0;
  });
  return units.fill(1, 0xfe00, 0xfe10).fill(1, 0xd83c, 0xd83f).fill(1, 0xdc00, 0xe000);
}

/** Returns true if lower-casing the ASCII letters of a text gives the other. */
function isLowerAscii(lower: string, text: string): boolean {
  if (lower.length !== text.length) return false;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (lower.charCodeAt(index) !== (isCapital(unit) ? unit + 32 : unit)) return false;
  }
  return true;
}

function isCapital(unit: number): boolean {
  return unit >= 0x41 && unit <= 0x5a;
}
