/** Characters that print one or more others: ligatures, and the forms of Hebrew and Arabic letters by their place. */
const presentation = /[\uFB00-\uFB06\uFB13-\uFB17\uFB1D-\uFDFB\uFE70-\uFEFC]+/g;
/** Soft hyphens, and marks that are no text. */
const unseen = /[\u00AD\u200B\u2060\uFEFF]/g;
/** Control characters but for tabs and newlines. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const controls = /[\u0001-\u0008\u000B\u000C\u000E-\u001F]/g;

/** A text as it is stored and searched: without presentation forms, soft hyphens and control characters. NUL, which databases refuse, is U+FFFD. */
export function cleanText(text: string): string {
  return text
    .replaceAll('\0', '\uFFFD')
    .replace(controls, ' ')
    .replace(unseen, '')
    .replace(presentation, (forms) => forms.normalize('NFKC'))
    .toWellFormed();
}

const unreadableShare = 0.3;

/** True for a text whose letters were not found: most are U+FFFD, or of the private use areas. */
export function hasUnreadableLetters(texts: readonly string[]): boolean {
  const all = texts.join('').replace(/\s+/g, '');
  const lost = all.match(/[\uFFFD\uE000-\uF8FF]/g)?.length ?? 0;
  return lost > 0 && lost >= all.length * unreadableShare;
}
