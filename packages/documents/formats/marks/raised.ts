const ordinal = /^(?:st|nd|rd|th|er|re|e|ème|eme|o|a|ª|º)$/iu;
const unit = /(?:^|[^\p{L}])(?:[kcdmµ]?m|ft|in|yd|mi|s|h|kg|g|L|Hz|W|V|A|K)$/u;
const powers: Readonly<Record<string, string>> = { 2: '²', 3: '³' };

/** Characters before a raised text that tell what it is. */
const nearMax = 40;

/**
 * A raised or lowered text as it follows others on its line, so that it does not become part of a number: `30[2]` for a mark of a note,
 * `10^6` for a power, `H2O`, `m²`, and `2nd` as they are.
 */
export function markedText(before: string, text: string, isRaised: boolean): string {
  const own = text.trim();
  const isJoined = !/\s$/.test(before.slice(-1));
  const left = before.slice(-nearMax).trimEnd();
  if (own === '' || /^[[(].*[\])]$/.test(own)) return text;
  if (!isRaised) return isJoined && /\d$/.test(left) && /^\d/.test(own) ? `_${own}` : text;
  if (!/^[\d+\u2212-]*[\d\p{L}]{1,3}(?:[,\u2009 ]+\d{1,3})*$/u.test(own)) return text;
  if (/^\p{L}/u.test(own)) {
    const isNote = isJoined && /\d$/.test(left) && own.length === 1 && !ordinal.test(own);
    return isNote ? `[${own}]` : text;
  }
  if (isJoined && /(?:^|[^\d.,])10$/.test(left)) return `^${own}`;
  if (isJoined && /^[+\u2212-]/.test(own)) return `^${own}`;
  if (isJoined && unit.test(left) && own in powers) return powers[own] ?? text;
  const isVariable = /(?:^|[^\p{L}\d])\p{L}$|[)\]]$/u.test(left) && !/\d\s*\p{L}$/u.test(left);
  if (isJoined && isVariable && own.length === 1) return `^${own}`;
  return `[${own}]`;
}
