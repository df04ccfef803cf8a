import { createHash } from 'node:crypto';
import { Type } from '@octavo/core';
import { withoutAccents } from '@octavo/core/text';
import { normalize } from '@octavo/data/search';

export const attributions = ['unverified', 'verified', 'disputed', 'misattributed'] as const;
export type Attribution = (typeof attributions)[number];

/** Limits in code points. */
export const quoteLimits = { text: 2_000, author: 255, category: 100, source: 500 } as const;

/** The fields of a quote that readers write: the API, the pages and the admin take them from here. */
export const quoteFields = {
  text: Type.String({ label: 'Text', maxLength: quoteLimits.text }),
  author: Type.String({ label: 'Author', maxLength: quoteLimits.author }),
  category: Type.String({
    label: 'Category',
    maxLength: quoteLimits.category,
    description: 'The name of a category in any case; a new one is made',
  }),
  source: Type.Optional(
    Type.String({
      label: 'Source',
      minLength: 0,
      maxLength: quoteLimits.source,
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

export interface Quote {
  readonly id: number;
  readonly text: string;
  readonly author: string;
  /** The name of its category. */
  readonly category: string;
  readonly categorySlug: string;
  /** Empty if no source was given. */
  readonly source: string;
  readonly attribution: Attribution;
  readonly isPublished: 0 | 1;
  /** Null if the account is gone. */
  readonly createdBy: number | null;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

/** Fields of a quote that readers write. */
export type QuoteContent = Pick<Quote, 'text' | 'author' | 'category' | 'source' | 'attribution'>;

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

const labels = {
  text: 'Text',
  author: 'Author',
  category: 'Category',
  source: 'Source',
  attribution: 'Attribution',
} as const;

/** The fields that differ, as the history has them. A category is the same in any case. */
export function changedFields(before: QuoteContent, after: QuoteContent) {
  const names = Object.keys(labels) as (keyof typeof labels)[];
  return names
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
