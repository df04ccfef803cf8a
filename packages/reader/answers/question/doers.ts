/** Words behind "who" that ask for those who made something. */
export const authorship =
  '(?:is|are|was|were) (?:the )?(?:(?:original|first|main) )?(?:authors?|creators?|writers?|inventors?|developers?|programmers?|designers?)\\b';
const asksForAuthor = new RegExp(`^\\W*(?:and )?who ${authorship}`, 'iu');

const doing = /^\W*(?:and )?who (?:first |originally |also )?(?<verb>\p{L}+)/iu;
/** A person's name in at least two words, as the source of a pattern with the flag `u`. */
export const personName =
  "\\p{Lu}[\\p{L}.'’-]+(?: \\p{Lu}\\.?)?(?: (?:van|von|de|der|da|di|du))*(?: \\p{Lu}[\\p{L}'’-]+)+";
/** Verbs for making something, in the forms that stand before `by`. */
const made =
  'written|created|developed|designed|authored|programmed|implemented|coded|drafted|made|built|started|invented';
const makes =
  /^(?:wrote|made|built|created|developed|designed|authored|programmed|implemented|coded|drafted|invented|started)$/;
const participles: Readonly<Record<string, string>> = {
  began: 'begun',
  drew: 'drawn',
  sang: 'sung',
  gave: 'given',
  took: 'taken',
  chose: 'chosen',
};

/** Returns true if a text says who did what a question asks, or names people under a heading for authors. */
export function tellsDoer(question: string, text: string, above: string): boolean {
  const verb = asksForAuthor.test(question) ? 'wrote' : doing.exec(question)?.groups?.verb?.toLowerCase();
  if (verb === undefined) return false;
  const participle = makes.test(verb) ? made : (participles[verb] ?? verb);
  const patterns = [
    `${personName}(?:,? (?:who|which)| and [^.;]{0,30}?)?,? (?:\\p{L}+ )?${verb}\\b`,
    `\\b(?:${participle})\\b (?:\\p{L}+ ){0,3}?by (?:the )?${personName}`,
  ];
  const isOfAuthors =
    makes.test(verb) && /\bauthors?\b/i.test(above) && new RegExp(personName, 'u').test(text);
  return isOfAuthors || patterns.some((pattern) => new RegExp(pattern, 'u').test(text.replace(/\s+/g, ' ')));
}
