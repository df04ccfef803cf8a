/** Returns true if `If-None-Match` names the tag, weakly compared (RFC 9110 section 13.1.2). */
export function matchesAny(ifNoneMatch: string, tag: string): boolean {
  if (ifNoneMatch.trim() === '*') return true;
  const given = ifNoneMatch.match(/(?:W\/)?"[^"]*"/g) ?? [];
  return given.some((each) => each.replace(/^W\//, '') === tag);
}
