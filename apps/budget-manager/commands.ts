/** One command. */
export interface Command {
  readonly summary: string;
  /** The operands in words, such as `NAME`. The command is refused with fewer or more of them. */
  readonly operands: readonly string[];
  readonly options: Readonly<
    Record<
      string,
      {
        readonly type: 'string' | 'boolean';
        readonly help: string;
        readonly required?: true;
        readonly multiple?: true;
      }
    >
  >;
  /** Runs without signing in. */
  readonly isPublic?: true;
}

/** Every command of `budget-manager`. */
export const commands: Readonly<Record<string, Command>> = {
  'list-budgets': {
    summary: 'lists your budgets, the newest first',
    operands: [],
    options: {
      limit: { type: 'string', help: 'how many at most (100)' },
      all: { type: 'boolean', help: 'all of them' },
    },
  },
  'add-budget': {
    summary: 'creates a budget',
    operands: ['NAME'],
    options: {
      limit: { type: 'string', required: true, help: 'how much may be spent in a period, such as 250.00' },
      currency: { type: 'string', help: 'ISO 4217 code (USD)' },
      period: { type: 'string', help: 'none, daily, weekly, monthly, quarterly or yearly (none)' },
      'period-day': {
        type: 'string',
        help: 'day of the month, 1 to 28, on which months, quarters and years begin (1)',
      },
    },
  },
  'add-expense': {
    summary: 'adds an expense to a budget, or to none if BUDGET_ID is none',
    operands: ['BUDGET_ID', 'DESCRIPTION', 'AMOUNT'],
    options: {
      category: { type: 'string', help: 'such as groceries' },
      currency: { type: 'string', help: 'ISO 4217 code (that of the budget, or USD)' },
      refund: { type: 'boolean', help: 'money that came back, which lowers the amount spent' },
      date: { type: 'string', help: 'the day it was spent, YYYY-MM-DD (today)' },
    },
  },
  'list-expenses': {
    summary: 'lists your expenses, the newest first',
    operands: [],
    options: {
      budget: { type: 'string', help: 'id of a budget, or none for unassigned expenses' },
      from: { type: 'string', help: 'first day, YYYY-MM-DD' },
      to: { type: 'string', help: 'last day, YYYY-MM-DD' },
      limit: { type: 'string', help: 'how many at most (100)' },
      all: { type: 'boolean', help: 'all of them' },
    },
  },
  'search-expenses': {
    summary: 'searches the text of your expenses',
    operands: ['QUERY'],
    options: { limit: { type: 'string', help: 'how many at most, up to 100 (20)' } },
  },
  import: {
    summary: 'imports expenses from a CSV, OFX, QIF, CAMT or MT940 file, or from standard input if FILE is -',
    operands: ['FILE'],
    options: {
      budget: { type: 'string', help: 'id of the budget of all rows (unassigned)' },
      currency: { type: 'string', help: 'without --budget: ISO 4217 code of rows that name none' },
      format: { type: 'string', help: 'csv, ofx, qif, camt or mt940 (by the content of the file)' },
      mapping: { type: 'string', multiple: true, help: 'FIELD=COLUMN, such as amount=Sum, once for each' },
      'date-format': { type: 'string', help: 'ymd, mdy or dmy (by the dates of the file)' },
      sign: { type: 'string', help: 'positive or negative: the amounts that are expenses (positive)' },
      decimal: { type: 'string', help: '. or , (by the amounts of the file)' },
      encoding: { type: 'string', help: 'such as windows-1250 (by the content of the file)' },
      separator: { type: 'string', help: ', ; | or tab (by the lines of the file)' },
      header: { type: 'string', help: 'true or false: whether a line names the columns' },
      'skip-lines': { type: 'string', help: 'lines above the names of columns' },
      'skip-end': { type: 'string', help: 'rows at the end that are left out' },
      account: { type: 'string', help: 'account of the rows, if the file names none' },
      match: { type: 'string', help: 'auto: does not add again what you typed (none)' },
      incomes: { type: 'string', help: 'keep: adds money that came in to the ledger (skip)' },
      'dry-run': { type: 'boolean', help: 'shows what would be imported' },
    },
  },
  'undo-import': {
    summary: 'removes the expenses that an import added, unless they were changed since',
    operands: ['TASK_ID'],
    options: {},
  },
  export: {
    summary: 'exports your expenses',
    operands: [],
    options: {
      format: { type: 'string', help: 'csv, ofx, qif or json (csv)' },
      from: { type: 'string', help: 'first day, YYYY-MM-DD' },
      to: { type: 'string', help: 'last day, YYYY-MM-DD' },
      out: { type: 'string', help: 'file to write (standard output)' },
    },
  },
  watch: {
    summary: 'prints notifications as they come',
    operands: [],
    options: {},
  },
  graphql: {
    summary: 'runs a GraphQL query, or reads it from standard input if QUERY is -',
    operands: ['QUERY'],
    options: { variables: { type: 'string', help: 'a JSON object' } },
  },
  seed: {
    summary: 'adds demo budgets and expenses; the same again adds nothing',
    operands: [],
    options: {
      budgets: { type: 'string', help: 'how many budgets (10)' },
      expenses: { type: 'string', help: 'how many expenses (100)' },
      seed: { type: 'string', help: 'another number makes other data (1)' },
      reset: { type: 'boolean', help: 'deletes the budgets of this seed first' },
    },
  },
  login: {
    summary: 'signs in and saves the token for later commands',
    operands: [],
    options: {},
    isPublic: true,
  },
  logout: {
    summary: 'ends the session of the token, and forgets the saved one',
    operands: [],
    options: {},
  },
  whoami: {
    summary: 'prints your account',
    operands: [],
    options: {},
  },
  completion: {
    summary: 'prints a script of completions for a shell',
    operands: ['bash|zsh|fish'],
    options: {},
    isPublic: true,
  },
};
