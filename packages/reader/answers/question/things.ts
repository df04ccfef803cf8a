/** Things that a question asks for by name, each with the texts that have one. */
const things: readonly (readonly [asked: RegExp, has: RegExp])[] = [
  // Paths, and places in programs.
  [
    /^\W*(?:and )?(?:where (?:is|are|does|do|can|should|must)\b|(?:in |to |from )?(?:which|what) (?:\p{L}+ )?(?:files?|director(?:y|ies)|folders?|paths?)\b)/iu,
    /(?<![\w.:/])~?\/[\w.-]+|\b[\w.-]+\/(?:[\w.-]+\/?)*(?=[\s.,;)]|$)|\b(?:in|under|below|to) (?:(?:the|an?|its|your) )?[\w./"'“”-]+ (?:director(?:y|ies)|folders?|files?|menu|tab|sections?)\b/i,
  ],
  // Keys, by name or as a row begins with one.
  [
    /^\W*(?:and )?(?:which|what) (?:\p{L}+ )?(?:keys?|shortcuts?|key combinations?)\b|\bwhat is the (?:\p{L}+ )*(?:key|shortcut)\b/iu,
    /\b(?:Ctrl|Control|Alt|Shift|Cmd|Meta|Esc|Escape|Enter|Tab|Space|SPC)\b|\b[CM]-\S|\bF\d{1,2}\b|(?<!\S)\^[A-Z]\b|^\s*\S {1,}\p{Lu}/u,
  ],
];

/** Returns true if a question asks for a thing that a text has: a path, a key. */
export function hasAskedThing(question: string, text: string): boolean {
  return things.some(([asked, has]) => asked.test(question) && has.test(text));
}

const askedNoun =
  /^\W*(?:and |but |so |in |on |at |to |from |for |with |by )?(?:what|which) (?<noun>\p{L}[\p{L}-]+(?: \p{L}[\p{L}-]+)??) (?:is|are|was|were|do|does|did|has|have|had|can|could|may|must|should|will|would)\b/iu;
/** Nouns for what is not called so where it is told: "written in C" for a language. */
const classes = new Set(
  `thing way kind type sort option command key file folder directory path setting parameter variable value number amount size time date day year month
  week hour age name person people program tool word character letter format unit color colour language country city place company part percentage share
  price cost reason effect difference purpose argument switch flag function method step result answer`.split(
    /\s+/,
  ),
);

/** The noun that a question asks for, in lower case: `university` in "What university did she go to?"; undefined if answers rarely say it. */
export function askedNounOf(question: string): string | undefined {
  const noun = askedNoun.exec(question)?.groups?.noun?.toLowerCase().split(' ').at(-1);
  const singular = noun?.replace(/ies$/, 'y').replace(/(?<!s)s$/, '');
  return noun === undefined || classes.has(noun) || classes.has(singular ?? '') ? undefined : noun;
}

const ordinals = 'third fourth fifth sixth seventh eighth ninth tenth'.split(' ');

/** The ordinal numbers of a question, from the third on, since "first" and "second" have other senses, as texts have them. */
export function ordinalsOf(question: string): RegExp[] {
  return ordinals.flatMap((word, index) =>
    new RegExp(`\\b${word}\\b`, 'i').test(question)
      ? [new RegExp(`\\b${word}\\b|\\b${index + 3}(?:rd|th|[.)])`, 'i')]
      : [],
  );
}

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
