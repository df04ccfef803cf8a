/** Tags of one text: separated by `;`, with `\` before a `;` or `\` of a tag itself. */
export function parseTags(text: string): string[] {
  const tags: string[] = [];
  let tag = '';
  for (let index = 0; index < text.length; index++) {
    const sign = text[index] as string;
    if (sign === ';') {
      tags.push(tag);
      tag = '';
    } else {
      tag += sign === '\\' && index + 1 < text.length ? text[++index] : sign;
    }
  }
  tags.push(tag);
  return [...new Set(tags.map((each) => each.trim()).filter((each) => each !== ''))];
}

/** The text that {@link parseTags} reads. */
export function tagText(tags: readonly string[]): string {
  return tags.map((tag) => tag.replace(/[;\\]/g, '\\$&')).join(';');
}
