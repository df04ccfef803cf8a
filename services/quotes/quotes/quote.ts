import { createHash } from 'node:crypto';
import { normalize } from '#kit/search/index.ts';

export const attributions = ['unverified', 'verified', 'disputed', 'misattributed'] as const;
export type Attribution = (typeof attributions)[number];

/** In code points. */
export const quoteLimits = { text: 2_000, author: 255, category: 100, source: 500 } as const;

export interface Quote {
  readonly id: number;
  readonly text: string;
  readonly author: string;
  /** The name of its category. */
  readonly category: string;
  readonly categorySlug: string;
  /** Empty if nobody gave one. */
  readonly source: string;
  readonly attribution: Attribution;
  readonly isPublished: 0 | 1;
  /** Null if the account is gone. */
  readonly createdBy: number | null;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

/** What may be written of a quote. */
export type QuoteContent = Pick<Quote, 'text' | 'author' | 'category' | 'source' | 'attribution'>;

/** The same for texts by the same author that differ only in case, accents, punctuation and spaces. */
export function fingerprintOf({ text, author }: Pick<Quote, 'text' | 'author'>): string {
  const folded = JSON.stringify([fold(author), fold(text)]);
  return createHash('sha256').update(folded).digest('base64url');
}

/** By what an author or a category is found: the name without regard to case. */
export function keyOf(name: string): string {
  return normalize(name);
}

/** The part of an address that names a category; several names can have the same. */
export function slugOf(name: string): string {
  const letters = name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}/gu, '')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, slugLengthMax)
    .replace(/-+$/, '');
  return letters === '' ? 'category' : letters;
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

/** Somebody who reads; undefined for a stranger. */
type PossibleReader = { readonly id: number; readonly isStaff: 0 | 1 } | undefined;

/** Whether a quote is there for somebody: before it is published, only for who added it and for staff. */
export function maySee(quote: Pick<Quote, 'isPublished' | 'createdBy'>, reader: PossibleReader): boolean {
  return quote.isPublished === 1 || isOwn(quote, reader);
}

/** Whether somebody may change and delete a quote: who added it and staff, with open editing everybody with an account. */
export function mayChange(quote: Pick<Quote, 'createdBy'>, reader: PossibleReader, isOpen: boolean): boolean {
  return reader !== undefined && (isOpen || isOwn(quote, reader));
}

function isOwn(quote: Pick<Quote, 'createdBy'>, reader: PossibleReader): boolean {
  return reader !== undefined && (reader.isStaff === 1 || quote.createdBy === reader.id);
}
