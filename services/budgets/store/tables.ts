import type { AdminTables } from '@octavo/admin';
import type { HealthTables, Session } from '@octavo/data';
import type { EventTables } from '@octavo/data/events';
import type { JobTables } from '@octavo/data/jobs';
import type { LimitTables } from '@octavo/data/limits';
import type { AccountTables } from '@octavo/people/accounts';
import type { OidcTables } from '@octavo/people/sign-in';
import type { Generated } from 'kysely';
import type { PeriodKind } from '../money/periods.ts';

/** The tables of all features (migrations/). Each belongs to the feature that is named above it, and only that one writes it. */
export interface Tables
  extends EventTables,
    JobTables,
    AccountTables,
    AdminTables,
    OidcTables,
    LimitTables,
    HealthTables {
  // authentication
  account: Numbered<AccountRow>;
  session: SessionRow;
  mailed_link: MailedLinkRow;
  anonymous_key: AnonymousKeyRow;
  // commands.ts
  idempotency_key: IdempotencyKeyRow;
  // budgets
  budget: Numbered<BudgetRow>;
  budget_day: BudgetDayRow;
  budget_threshold: BudgetThresholdRow;
  budget_past_terms: PastTermsRow & { owner: number; budget: number };
  // sharing
  budget_member: MemberRow;
  budget_invitation: InvitationRow;
  // expenses
  expense: Numbered<ExpenseRow>;
  bulk_change: BulkChangeRow;
  offline_expense: { owner: number; external_id: string };
  expense_tag: { owner: number; tag: string; expense: number };
  // transactions
  ledger_transaction: LedgerTransactionRow;
  ledger_entry: LedgerEntryRow;
  income: IncomeRow;
  // customers, orders
  customer: CustomerRow;
  customer_order: OrderRow;
  // notifications
  notification: NotificationRow;
  notification_choice: { owner: number; shown: string };
  // recurring
  recurring: RecurringRow;
  recurring_occurrence: { owner: number; recurring_id: string; day: string; moved_to: string | null };
  // rules
  import_rule: RuleRow;
  // imports
  import_mapping: { owner: number; header: string; options: string; used_at_ms: number };
  // tasks
  task: TaskRow;
  task_file: { owner: number; task_id: string; name: 'input' | 'output'; part: number; bytes: Uint8Array };
}

/** Place where queries run: the database, a snapshot or a transaction. */
export type Store = Session<Tables>;

/** The database numbers new rows. */
type Numbered<Row> = Omit<Row, 'number'> & { number: Generated<number> };

export interface AccountRow {
  number: number;
  id: string;
  email: string;
  username: string | null;
  password_hash: string;
  email_verified: number;
  disabled: number;
  notification_seq: number;
  erased_at_ms: number | null;
  created_at_ms: number;
  updated_at_ms: number;
}

interface SessionRow {
  id: string;
  owner: number;
  created_at_ms: number;
  expires_at_ms: number;
}

export interface MailedLinkRow {
  id: string;
  owner: number;
  kind: 'verify' | 'reset';
  email: string;
  created_at_ms: number;
  expires_at_ms: number;
  sent_at_ms: number | null;
}

interface AnonymousKeyRow {
  key_hash: string;
  owner: number | null;
  digest: string;
  result: string;
  created_at_ms: number;
}

interface IdempotencyKeyRow {
  owner: number;
  key: string;
  digest: string;
  result: string;
  created_at_ms: number;
}

export interface BudgetRow {
  number: number;
  id: string;
  owner: number;
  name: string;
  limit_minor: number;
  currency: string;
  period: PeriodKind;
  /** The day of the month on which a month, quarter or year begins. */
  period_day: number;
  start_date: string;
  rollover: 'none' | 'positive' | 'full';
  thresholds: string;
  spent_minor: number;
  spent_high: number;
  expenses: number;
  /** 1 for the hidden budget of unassigned expenses in its currency, 2 for that of transfers. */
  unassigned: number;
  /** 1 if it was ever shared. */
  shared: number;
  created_at_ms: number;
  updated_at_ms: number;
  version: number;
}

/** An account with which a budget is shared. */
export interface MemberRow {
  account: number;
  owner: number;
  budget: number;
  /** The id of its invitation. */
  id: string;
  /** The address that was invited. */
  email: string;
  role: 'viewer' | 'editor';
  created_at_ms: number;
}

export interface InvitationRow {
  id: string;
  owner: number;
  budget_id: string;
  email: string;
  role: 'viewer' | 'editor';
  state: 'pending' | 'accepted' | 'declined' | 'withdrawn';
  created_at_ms: number;
  expires_at_ms: number;
  sent_at_ms: number | null;
}

interface BudgetDayRow {
  owner: number;
  budget: number;
  day: string;
  amount_minor: number;
  amount_high: number;
  expenses: number;
}

/** Terms of a budget that are over. */
export interface PastTermsRow extends Pick<BudgetRow, 'limit_minor' | 'period' | 'period_day' | 'rollover'> {
  /** The last day on which they held. */
  until_day: string;
}

interface BudgetThresholdRow {
  owner: number;
  budget: number;
  period: string;
  threshold: number;
}

export interface ExpenseRow {
  number: number;
  id: string;
  owner: number;
  budget: number;
  description: string;
  amount_minor: number;
  amount: number;
  currency: string;
  category: string | null;
  tags: string;
  spent_on: string;
  notes: string | null;
  external_id: string | null;
  original_amount_minor: number | null;
  original_currency: string | null;
  rate: string | null;
  rate_date: string | null;
  transaction_id: string;
  /** The member who added it; null for the owner. */
  added_by: number | null;
  created_at_ms: number;
  updated_at_ms: number;
  version: number;
  /** Words of the file that an imported expense came from. */
  file_task?: string | null;
  file_account?: string | null;
  file_day?: string | null;
  file_amount_minor?: number | null;
  file_text?: string | null;
  /** 1 for an expense that was there before a row of a file was found to be it. */
  file_match?: number | null;
  /** The import that gave it its id. */
  file_id_task?: string | null;
  /** The version at which an undo has made it as it was at the version `restored_as`. */
  restored_version?: number | null;
  restored_as?: number | null;
}

interface BulkChangeRow {
  owner: number;
  token: string;
  rows_before: string;
  created_at_ms: number;
  undone: number;
  about: string | null;
}

export interface LedgerTransactionRow {
  owner: number;
  id: string;
  type: 'debit' | 'credit' | 'reversal';
  description: string;
  amount_minor: number;
  currency: string;
  budget_id: string | null;
  expense_id: string | null;
  order_id: string | null;
  reverses: string | null;
  created_at_ms: number;
}

export interface LedgerEntryRow {
  owner: number;
  transaction_id: string;
  position: number;
  account: string;
  side: 'debit' | 'credit';
  amount_minor: number;
}

/** A credit that is no refund. */
export interface IncomeRow {
  owner: number;
  transaction_id: string;
  day: string;
  currency: string;
  amount_minor: number;
  /** 0 for one whose transaction is reversed. */
  counted: number;
  external_id: string | null;
  /** Words of the file that an imported income came from. */
  file_task: string | null;
  file_account: string | null;
  file_day: string | null;
  file_amount_minor: number | null;
  file_text: string | null;
}

export interface CustomerRow {
  owner: number;
  id: string;
  name: string;
  email: string | null;
  phone: string | null;
  created_at_ms: number;
  updated_at_ms: number;
  version: number;
}

export interface OrderRow {
  owner: number;
  id: string;
  customer_id: string;
  budget_id: string | null;
  items: string;
  amount_minor: number;
  currency: string;
  status: 'pending' | 'completed' | 'shipped' | 'delivered' | 'canceled';
  transaction_id: string | null;
  created_at_ms: number;
  updated_at_ms: number;
  version: number;
}

export interface NotificationRow {
  owner: number;
  seq: number;
  id: string;
  type: string;
  title: string;
  message: string;
  data: string;
  read_at_ms: number | null;
  created_at_ms: number;
  /** The budget of another account that it is about. */
  shared_budget: number | null;
}

export interface RecurringRow {
  owner: number;
  id: string;
  budget: number;
  description: string;
  amount_minor: number;
  currency: string;
  category: string | null;
  freq: 'daily' | 'weekly' | 'monthly' | 'yearly';
  every: number;
  by_day: string | null;
  by_month_day: string | null;
  on_weekend: 'same' | 'before' | 'after';
  start_on: string;
  end_on: string | null;
  count: number | null;
  timezone: string;
  since_on: string | null;
  made: number;
  next_on: string | null;
  next_at_ms: number | null;
  created_at_ms: number;
  updated_at_ms: number;
  version: number;
}

export interface RuleRow {
  owner: number;
  id: string;
  position: number;
  /** The old form of a rule: a part of the description, and a category. Empty in others. */
  contains: string;
  category: string;
  tags: string;
  /** JSON; null in the old form. */
  conditions: string | null;
  sets: string | null;
  match_any: number;
  transfer: number;
  enabled: number;
  created_at_ms: number;
  updated_at_ms: number;
  version: number;
}

export interface TaskRow {
  owner: number;
  id: string;
  type: 'import' | 'export' | 'report' | 'reindex' | 'email' | 'rule' | 'bulk';
  description: string | null;
  status: 'pending' | 'running' | 'completed' | 'failed' | 'canceled';
  progress: number;
  input: string;
  result: string | null;
  error: string | null;
  attempts: number;
  run: string;
  created_at_ms: number;
  started_at_ms: number | null;
  finished_at_ms: number | null;
  seen_at_ms: number;
  /** Number of expenses that undoing has taken back so far; null unless it has begun. */
  undone: number | null;
  undone_at_ms: number | null;
}
