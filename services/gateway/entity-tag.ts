/** The entity tag of a post: its revision, as a strong validator (RFC 9110 section 8.8.3). */
export function entityTag(revision: number): string {
  return `"${revision}"`;
}

/**
 * The revisions that `If-Match` allows; none where it sets no condition. A list that no revision can meet becomes the
 * revision 0, which no post has. Weak tags never match (RFC 9110 section 13.1.1).
 */
export function allowedRevisions(ifMatch: string | undefined): number[] {
  if (ifMatch === undefined || ifMatch.trim() === '*') return [];
  const revisions = tagsOf(ifMatch).map((tag) => /^"([1-9]\d{0,15})"$/.exec(tag)?.[1]);
  const numbers = revisions.filter((revision) => revision !== undefined).map(Number);
  return numbers.length > 0 ? numbers : [0];
}

function tagsOf(list: string): string[] {
  return list.match(/(?:W\/)?"[^"]*"/g) ?? [];
}
