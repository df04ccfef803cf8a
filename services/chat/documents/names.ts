const nameBytesMax = 255;
// Control characters, and those that change the direction of text.
const unseen = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** A file's name without its folders and without characters that deceive readers. */
export function cleanName(given: string): string {
  const last = given.normalize('NFC').split(/[\\/]/).at(-1) ?? '';
  const clean = last.replace(unseen, '').trim();
  if (/^\.*$/.test(clean)) return 'document';
  return shortened(clean.toWellFormed());
}

/** Keeps the ending. */
function shortened(name: string): string {
  if (Buffer.byteLength(name) <= nameBytesMax) return name;
  const ending = /\.[A-Za-z0-9]{1,10}$/.exec(name)?.[0] ?? '';
  let stem = name.slice(0, name.length - ending.length);
  while (Buffer.byteLength(stem + ending) > nameBytesMax) stem = [...stem].slice(0, -1).join('');
  return stem + ending;
}
