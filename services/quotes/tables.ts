import type { AdminTables } from '@octavo/admin';
import type { HealthTables, Session } from '@octavo/data';
import type { LimitTables } from '@octavo/data/limits';
import type { AccountTables } from '@octavo/people/accounts';
import type { OidcTables } from '@octavo/people/sign-in';
import type { Generated } from 'kysely';
import type { QuoteContent } from './quotes/quote.ts';

export interface Tables extends AccountTables, AdminTables, OidcTables, LimitTables, HealthTables {
  category: CategoryRow;
  quote: QuoteRow;
  quote_like: { id: Generated<number>; quote_id: number; user_id: number; created_at_ms: number };
  comment: {
    id: Generated<number>;
    quote_id: number;
    /** Null if the author has left. */
    user_id: number | null;
    text: string;
    created_at_ms: number;
  };
  report: ReportRow;
  quote_of_day: { day: string; quote_id: number };
  daily_round: { only_row: number; round: number };
  quote_change: QuoteChangeRow;
  token_family: TokenFamilyRow;
}

/** Place where queries run: the database, a snapshot or a transaction. */
export type Store = Session<Tables>;

export interface CategoryRow {
  id: Generated<number>;
  name: string;
  name_key: string;
  slug: string;
  /** Number of its published quotes; kept by triggers. */
  quotes: Generated<number>;
}

export interface QuoteRow extends Omit<QuoteContent, 'category'> {
  id: Generated<number>;
  author_key: string;
  category_id: number;
  fingerprint: string;
  is_published: number;
  created_by: number | null;
  created_at_ms: number;
  updated_at_ms: number;
  day_round: number;
  day_key: number;
}

/** A change that waits; null columns stay unchanged. */
export interface QuoteChangeRow extends Nullable<QuoteContent> {
  id: Generated<number>;
  quote_id: number;
  user_id: number;
  /** The text that was published when the change was proposed. */
  base_text: string;
  created_at_ms: number;
}

type Nullable<T> = { readonly [Name in keyof T]: T[Name] | null };

export interface ReportRow {
  id: Generated<number>;
  quote_id: number;
  user_id: number;
  reason: string;
  note: string;
  status: string;
  created_at_ms: number;
}

export interface TokenFamilyRow {
  id: string;
  user_id: number;
  generation: number;
  rotated_at_ms: number | null;
  created_at_ms: number;
  expires_at_ms: number;
  is_revoked: number;
}
