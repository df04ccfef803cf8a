import { createHash } from 'node:crypto';
import { labelsOf, type Static, type TObject, Type } from '@octavo/core';
import { withoutAccents } from '@octavo/core/text';
import { normalize } from '@octavo/data/search';

export const attributions = ['unverified', 'verified', 'disputed', 'misattributed'] as const;
export type Attribution = (typeof attributions)[number];

/** Code points of the name of a category. */
export const categoryMax = 100;

/** The fields of a quote that readers write: tables, API, form, admin and history take them from here. */
export const quoteFields = {
  text: Type.String({ label: 'Text', maxLength: 2_000 }),
  author: Type.String({ label: 'Author', maxLength: 255 }),
  category: Type.String({
    label: 'Category',
    maxLength: categoryMax,
    description: 'The name of a category in any case; a new one is made',
  }),
  source: Type.Optional(
    Type.String({
      label: 'Source',
      minLength: 0,
      maxLength: 500,
      description: 'A work with year or chapter',
    }),
  ),
  attribution: Type.Optional(
    Type.Enum(attributions, {
      label: 'Attribution',
      labels: {
        unverified: 'Unverified',
        verified: 'Verified',
        disputed: 'Disputed',
        misattributed: 'Misattributed',
      },
    }),
  ),
};

/** A quote as readers write it. */
export type QuoteInput = Static<TObject<typeof quoteFields>>;

/** The fields that readers write; the category is its name, the source empty if none was given. */
export type QuoteContent = Readonly<Required<QuoteInput>>;

export const contentNames = Object.keys(quoteFields) as (keyof QuoteContent)[];

export interface Quote extends QuoteContent {
  readonly id: number;
  readonly categorySlug: string;
  readonly isPublished: 0 | 1;
  /** Null if the account is gone. */
  readonly createdBy: number | null;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

/** A new quote, with what its author left out. */
export function withDefaults(input: QuoteInput): QuoteContent {
  return { source: '', attribution: 'unverified', ...input };
}

/** The fields of a quote that readers write, alone. */
export function contentOf(quote: QuoteContent): QuoteContent {
  return Object.fromEntries(contentNames.map((name) => [name, quote[name]])) as unknown as QuoteContent;
}

/** Returns a fingerprint that is equal for texts by the same author that differ only in case, accents, punctuation and spaces. */
export function fingerprintOf({ text, author }: Pick<Quote, 'text' | 'author'>): string {
  const folded = JSON.stringify([fold(author), fold(text)]);
  return createHash('sha256').update(folded).digest('base64url');
}

/** Key of an author or a category: the name without regard to case. */
export function keyOf(name: string): string {
  return normalize(name);
}

/** The part of an address that names a category, in the letters of its script; several names can have the same. */
export function slugOf(name: string): string {
  const letters = withoutAccents(name).replace(/[^\p{L}\p{N}\p{M}]+/gu, '-');
  const slug = [...letters]
    .slice(0, slugLengthMax + 1)
    .join('')
    .replace(/^-+/, '');
  const whole = [...slug].slice(0, slugLengthMax).join('').replace(/-+$/, '');
  return whole === '' ? 'category' : whole;
}

const slugLengthMax = 60;

/** Accents are dropped only where they do not make another letter: not the vowels of Devanagari, for example. */
function fold(text: string): string {
  const letters = text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[\u0300-\u036f]|[^\p{L}\p{N}\p{M}]/gu, '');
  return letters === '' ? text.trim() : letters;
}

/** A reader; undefined for a stranger. */
type PossibleReader = { readonly id: number; readonly isStaff: 0 | 1 } | undefined;

const labels = labelsOf(quoteFields);

/** The fields that differ, as the history has them. A category is the same in any case. */
export function changedFields(before: QuoteContent, after: QuoteContent) {
  return contentNames
    .filter((name) =>
      name === 'category' ? keyOf(before[name]) !== keyOf(after[name]) : before[name] !== after[name],
    )
    .map((name) => ({ name, label: labels[name], from: before[name], to: after[name] }));
}

/** Returns true if the reader may see a quote: before it is published, only its creator and staff. */
export function maySee(quote: Pick<Quote, 'isPublished' | 'createdBy'>, reader: PossibleReader): boolean {
  return quote.isPublished === 1 || isOwn(quote, reader);
}

/** Returns true if the reader may change and delete a quote: its creator and staff, with open editing everybody with an account. */
export function mayChange(quote: Pick<Quote, 'createdBy'>, reader: PossibleReader, isOpen: boolean): boolean {
  return reader !== undefined && (isOpen || isOwn(quote, reader));
}

function isOwn(quote: Pick<Quote, 'createdBy'>, reader: PossibleReader): boolean {
  return reader !== undefined && (reader.isStaff === 1 || quote.createdBy === reader.id);
}
