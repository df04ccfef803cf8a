import { sentencesOf } from '@octavo/documents';
import { personName as name } from '../answers/question/doers.ts';
import type { Passage } from '../passages/passage.ts';
import type { Documents, ListedDocument } from './documents.ts';
import type { Origin } from './intent.ts';
import { type PassagePart, quotedReply, type Reply } from './quoted.ts';

const licenses =
  /\b(?:GPL|LGPL|AGPL|General Public Licen[sc]e|MIT|BSD|ISC|Apache Licen[sc]e|Artistic Licen[sc]e|Mozilla Public Licen[sc]e|MPL|Creative Commons|CC[- ]BY\S*|public domain|Free Documentation Licen[sc]e|GFDL|freeware|free software)\b/i;

/** By origin: words to look for, and patterns of sentences that tell it, with how plainly they do. Those of headings count beside. */
const told: Readonly<
  Record<
    Origin,
    { words: string; needs: RegExp; heading: RegExp; plainly: readonly (readonly [RegExp, number])[] }
  >
> = {
  author: {
    words: 'author written wrote created developed copyright',
    needs: new RegExp(name, 'u'),
    heading: /\bauthors?\b|\bcredits\b/i,
    plainly: [
      [
        new RegExp(
          `\\b(?:written|created|developed|authored|designed|programmed)\\b[^.;]{0,40}\\bby ${name}`,
          'u',
        ),
        3,
      ],
      [new RegExp(`\\b[Aa]uthors?\\b[^.;]{0,20}${name}`, 'u'), 3],
      [new RegExp(`${name}[^.;]{0,30}\\b(?:wrote|created|developed|is the author)\\b`, 'u'), 2],
      [/(?:copyright|©|\(c\) \d)(?!.*\b(?:inc|ltd|corp|gmbh|llc|foundation|company|software|project)\b)/i, 1],
    ],
  },
  license: {
    words: 'license licence licensed distributed copying copyright gpl',
    needs: licenses,
    heading: /\blicen[sc]|\bcopying\b|\bcopyright\b/i,
    plainly: [
      [/\b(?:licen[sc]ed|released|distributed|redistribut\w+|available|covered|published|placed)\b/i, 2],
      [/\blicen[sc]e\b/i, 1],
    ],
  },
};
const passagesMax = 40;

/** Quotes the sentence of the named documents that tells their origin most plainly; undefined if none does. */
export async function originOf(
  documents: Documents,
  origin: Origin,
  named: readonly ListedDocument[],
): Promise<Reply | undefined> {
  const only = named.map(({ id }) => id);
  const passages = await documents.passagesWith(told[origin].words, {
    match: 'any',
    only,
    limit: passagesMax,
  });
  const [best] = passages
    .flatMap((passage) => sentencesTelling(origin, passage))
    .toSorted((one, other) => other.score - one.score || one.passage.place - other.passage.place);
  return best && quotedReply([best], '', 0.8);
}

function sentencesTelling(origin: Origin, passage: Passage): (PassagePart & { readonly score: number })[] {
  const { needs, heading, plainly } = told[origin];
  const isHeaded = heading.test(passage.section.split(' > ').at(-1) ?? '');
  return sentencesOf(passage.text).flatMap(({ start, end }) => {
    const text = passage.text.slice(start, end).replace(/\s+/g, ' ');
    if (!needs.test(text)) return [];
    const said = Math.max(0, ...plainly.map(([pattern, score]) => (pattern.test(text) ? score : 0)));
    const score = said + (isHeaded ? 2 : 0);
    return score > 0 ? [{ passage, start, end, score }] : [];
  });
}
