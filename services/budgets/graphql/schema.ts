/** The schema of `/api/graphql`, in the schema definition language. */
export const typeDefinitions = /* GraphQL */ `
"A time, RFC 3339 in UTC"
scalar DateTime
"A day, YYYY-MM-DD"
scalar Date
"An exact amount: accepts a number or a decimal string, returns a number"
scalar Decimal

enum Period { NONE DAILY WEEKLY MONTHLY QUARTERLY YEARLY }
enum Rollover { NONE POSITIVE FULL }
enum ExpenseKind { EXPENSE REFUND }
enum Role { OWNER EDITOR VIEWER }

"Another person, as far as those who share a budget see each other"
type Person { id: ID! username: String }

type Budget {
  id: ID!
  name: String!
  limit: Decimal!
  "The limit in minor units of the currency"
  limitMinor: String!
  currency: String!
  period: Period!
  periodDay: Int!
  rollover: Rollover!
  "What you may do in it"
  role: Role!
  "Its owner, if that is another person"
  sharedBy: Person
  "Amount spent in a period, such as 2026-03; by default the current one"
  spent(period: String): Decimal!
  "Amount left in a period, including the amount carried over"
  remaining(period: String): Decimal!
  "Its expenses, newest first"
  expenses(first: Int = 20, after: String): ExpenseConnection!
  createdAt: DateTime!
  updatedAt: DateTime!
  version: Int!
}

type Expense {
  id: ID!
  "Null while the expense is unassigned"
  budgetId: ID
  budget: Budget
  "A refund lowers the amount spent"
  kind: ExpenseKind!
  description: String!
  amount: Decimal!
  "The amount in minor units of the currency"
  amountMinor: String!
  currency: String!
  category: String
  tags: [String!]!
  spentOn: Date!
  "Null once that account is erased"
  addedBy: Person
  createdAt: DateTime!
  version: Int!
}

type PageInfo { hasNextPage: Boolean! endCursor: String }
type ExpenseEdge { cursor: String! node: Expense! }
type ExpenseConnection { edges: [ExpenseEdge!]! pageInfo: PageInfo! totalCount: Int! }

input BudgetInput {
  name: String!
  limit: Decimal!
  currency: String = "USD"
  period: Period = NONE
  periodDay: Int
  rollover: Rollover = NONE
  "Percentages of the available amount at which you are notified; 80 and 100 by default"
  thresholds: [Int!]
  startDate: Date
}
"Fields that are left out stay unchanged"
input BudgetPatch { name: String limit: Decimal period: Period periodDay: Int rollover: Rollover thresholds: [Int!] }
input ExpenseInput {
  "Unassigned without one"
  budgetId: ID
  kind: ExpenseKind = EXPENSE
  description: String!
  amount: Decimal!
  currency: String
  "Units of the budget's currency for one unit of the expense's, if they differ"
  rate: Decimal
  category: String
  tags: [String!]
  spentOn: Date
}
"Fields that are left out stay unchanged"
input ExpensePatch {
  "Null takes it out of its budget"
  budgetId: ID
  kind: ExpenseKind
  description: String
  amount: Decimal
  currency: String
  rate: Decimal
  category: String
  tags: [String!]
  spentOn: Date
}

type User { id: ID! email: String! username: String }
type ExpenseSearch { total: Int! page: Int! size: Int! expenses: [Expense!]! }
type Notification {
  id: ID!
  "Number of the notification, without gaps"
  seq: Int!
  type: String!
  title: String
  message: String!
  createdAt: DateTime!
  readAt: DateTime
}

type Query {
  "Your budgets and those that are shared with you, newest first; after is the id of the last one on the page before"
  budgets(first: Int = 100, after: String): [Budget!]!
  budget(id: ID!): Budget
  "Your expenses, newest first, of a budget, or unassigned ones with the budgetId none; after is the id of the last one on the page before"
  expenses(budgetId: ID, first: Int = 100, after: String): [Expense!]!
  searchExpenses(query: String!, page: Int = 1, size: Int = 20): ExpenseSearch!
  "Newest first"
  notifications(unread: Boolean, first: Int = 50): [Notification!]!
  me: User!
}

type Mutation {
  createBudget(input: BudgetInput!): Budget!
  "With version, changes it only if that version is still current"
  updateBudget(id: ID!, input: BudgetPatch!, version: Int): Budget!
  "A budget with expenses is deleted only with cascade"
  deleteBudget(id: ID!, cascade: Boolean = false): ID!
  addExpense(input: ExpenseInput!): Expense!
  "With version, changes it only if that version is still current"
  updateExpense(id: ID!, input: ExpensePatch!, version: Int): Expense!
  deleteExpense(id: ID!): ID!
  markNotificationRead(id: ID!): Notification!
}

type Subscription {
  "With afterSeq, sends the notifications since that one first"
  notificationAdded(afterSeq: Int): Notification!
  "Sends a budget (or any of yours) whenever it or its spending changes"
  budgetChanged(id: ID): Budget!
}
`;
