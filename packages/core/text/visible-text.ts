/** Characters that show nothing: white space, control and format characters, fillers, and blank symbols of some scripts. */
const invisible =
  '\\p{White_Space}\\p{Cc}\\p{Cf}\\p{Default_Ignorable_Code_Point}\\u2800\\u{13441}\\u{13442}\\u{16FE4}\\u{1D159}';

const visible = new RegExp(`[^${invisible}]`, 'u');

/** Returns true if a text shows nothing to its readers, such as spaces or U+3164 only. */
export function isBlank(text: string): boolean {
  return !visible.test(text);
}

/** Keywords of a JSON Schema for texts with at least one visible character; the problem is "must not be blank". */
export const notBlank = { pattern: `[^${invisible}]`, 'x-problem': 'must not be blank' } as const;
